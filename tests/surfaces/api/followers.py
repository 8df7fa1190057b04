"""One who follows the stream as a browser does, and the small reducer that makes a picture of what came."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

LIMIT_S = 60.0


class Follower:
    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()
        self.last_id = ""
        self.snapshots: list[dict[str, Any]] = []
        self.frames: list[dict[str, Any]] = []

    async def next(self) -> tuple[str, dict[str, Any]]:
        """The next event; heartbeats are passed by."""
        fields: dict[str, str] = {}
        async for line in self._lines:
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
            elif "data" in fields:
                self.last_id = fields["id"]
                data = json.loads(fields["data"])
                (self.snapshots if fields["event"] == "snapshot" else self.frames).append(data)
                return fields["event"], data
            else:
                fields = {}
        raise EOFError

    async def read_until(self, is_enough: Callable[["Follower"], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not is_enough(self):
                await self.next()

    @property
    def changes(self) -> list[dict[str, Any]]:
        return [change for frame in self.frames for change in frame["changes"]]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [change for change in self.changes if change["t"] == kind]

    def has_ended(self, run: str) -> bool:
        last = [change for change in self.changes if change["t"] == "run" and change["run"] == run]
        return bool(last) and last[-1]["ended_at"] is not None


@asynccontextmanager
async def following(url: str, after: str = "", **query: str) -> AsyncIterator[Follower]:
    headers = {"last-event-id": after} if after else {}
    async with (
        httpx.AsyncClient(timeout=LIMIT_S) as client,
        client.stream("GET", f"{url}/api/v1/stream", params=query, headers=headers) as response,
    ):
        assert response.status_code == 200, response.status_code
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Follower(response)
