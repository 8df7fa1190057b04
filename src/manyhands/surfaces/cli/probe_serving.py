"""`manyhands probe`: tells the memory of this machine's devices, once or to whoever asks."""

import asyncio
import hmac
import ipaddress
import os
import signal

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manyhands.errors import UsageError
from manyhands.hosts.probes.this_machine import report_machine
from manyhands.http_serving import listen, serving
from manyhands.readers.nvml_reader import NvmlReader
from manyhands.surfaces.cli.printing import put, say
from manyhands.surfaces.cli.worker_serving import token_in


def run_probe(serve: bool, address: str, port: int, token_env: str | None) -> int:
    token = token_in(token_env)
    if serve:
        if not token and not _is_loopback(address):
            raise UsageError(
                f"`{address}` is open to other machines, and there is no token",
                "name the variable that holds one: `--token-env PROBE_TOKEN`",
            )
        asyncio.run(_serve(address, port, token))
    else:
        put(asyncio.run(_once()).decode() + "\n")
    return 0


async def _once() -> bytes:
    reader = NvmlReader(os.environ.get("CUDA_VISIBLE_DEVICES"))
    try:
        return msgspec.json.encode(await report_machine(reader))
    finally:
        await reader.close()


async def _serve(address: str, port: int, token: str) -> None:
    reader = NvmlReader(os.environ.get("CUDA_VISIBLE_DEVICES"))
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    async def answer(request: Request) -> Response:
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token and not hmac.compare_digest(sent.encode(), token.encode()):
            return Response("a token is required\n", status_code=401)
        return Response(msgspec.json.encode(await report_machine(reader)), media_type="application/json")

    app = Starlette(routes=[Route("/probe", answer, methods=["GET"])])
    try:
        listening = listen(address, port)
        bound = listening.getsockname()[1]
        async with serving(app, listening, grace_s=1):
            host = f"[{address}]" if ":" in address else address
            put(f"http://{host}:{bound}\n")
            say("answers GET /probe until it is stopped")
            await stop.wait()
    finally:
        await reader.close()


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
