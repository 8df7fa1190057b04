"""Requests that could take all memory or wait forever: what they name is read little by little, and not for long."""

import asyncio
from pathlib import Path

import pytest

from manyhands.worker.loop.image_room import ImageRoom
from manyhands.worker.loop.image_sources import FILES_AT_ONCE, ImageSources
from manyhands.worker.values.item_answers import Busy, TooMuch, Trouble


async def _same(file: bytes) -> bytes | Trouble:
    return file


async def test_only_a_few_files_of_all_requests_are_in_memory_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"large")
    sources = ImageSources(tmp_path, ["."])
    held = most = 0

    async def counted(file: bytes) -> bytes | Trouble:
        nonlocal held, most
        held += 1
        most = max(most, held)
        for _ in range(3):
            await asyncio.sleep(0)
        held -= 1
        return file

    requests = await asyncio.gather(*(sources.read_into(counted, ["a.png"] * 50) for _ in range(3)))
    assert requests == [[b"large"] * 50] * 3
    assert 1 < most <= FILES_AT_ONCE


@pytest.mark.parametrize("given", ["file://[", "http://[", "http://127.0.0.1:99999/a.png", "a\0.png", "a" * 5000])
async def test_an_address_that_cannot_be_read_fails_alone(tmp_path: Path, given: str) -> None:
    (tmp_path / "a.png").write_bytes(b"good")
    bad, good = await ImageSources(tmp_path, ["."]).read_into(_same, [given, "a.png"])
    assert isinstance(bad, Trouble)
    assert bad.is_callers
    assert good == b"good"


async def test_a_server_that_sends_a_byte_now_and_then_is_left(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)
        except ConnectionError:
            ended.set()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sources = ImageSources(tmp_path, fetch_within_s=0.3)
    (told,) = await sources.read_into(_same, [f"http://127.0.0.1:{port}/a.png"])
    assert isinstance(told, Trouble)
    assert told.code == "not_fetched"
    await ended.wait()
    await sources.close()
    server.close()


def test_images_that_have_no_answer_yet_take_room_whether_they_are_decoded_or_not() -> None:
    room = ImageRoom("clip", 10)
    with pytest.raises(TooMuch, match="6 images, but model `clip` takes at most 5 per request"), room.taken(6):
        pass
    with room.taken(5), room.taken(4):
        with pytest.raises(Busy, match="9 images"), room.taken(2):
            pass
        with room.taken(1):
            pass
    with room.taken(5), room.taken(5):
        pass
