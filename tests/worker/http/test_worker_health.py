"""What a load balancer gets from /health while a batch does not end."""

import asyncio
import threading

import httpx

from manyhands.worker.http.serving import serving
from manyhands.worker.http.worker_app import make_app
from manyhands.worker.loop.text_requests import TextRequests, Threads
from worker.loop.made_up_models import MadeUp, engine_of, rows_of


async def test_health_is_503_with_the_reason_while_a_batch_is_stuck_and_200_again_when_it_ends() -> None:
    model, preparer = MadeUp(released=threading.Event()), Threads()
    assert model.released is not None
    try:
        async with (
            engine_of(model, stuck_after_s=0.2) as engine,
            serving(make_app(TextRequests(engine, preparer)), "127.0.0.1", 0, "") as url,
            httpx.AsyncClient(base_url=url, timeout=60) as http,
        ):
            assert (await http.get("/health")).status_code == 200
            await engine.run("sums", rows_of(1))  # the caller is told that the worker is stuck
            unwell = await http.get("/health")
            assert (unwell.status_code, unwell.json()["status"]) == (503, "unwell")
            assert "batches that do not end: 1; one of `sums`" in unwell.json()["detail"]
            model.released.set()
            async with asyncio.timeout(90):
                while (await http.get("/health")).status_code != 200:
                    pass
            await engine.drain(60)
            assert (await http.get("/health")).json() == {"status": "unwell", "detail": "stopping"}
    finally:
        model.released.set()
        await preparer.close()
