"""Delivering beside a book, with sinks that misbehave: nothing is lost, nothing hangs, replies share what they use."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.delivery.receivers import Hook
from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.task import Task
from manyhands.engine.delivery import delivering as module
from manyhands.engine.delivery.delivering import Delivering
from manyhands.engine.delivery.sink_opening import open_sinks
from manyhands.engine.delivery.sinks.letters import Letter
from manyhands.engine.delivery.sinks.sink import Sink, SinkError
from manyhands.sources.config.route_config import FileSinkConfig, RouteConfig


class Post:
    """A book with letters, and what journals for it."""

    def __init__(self, route: RouteConfig, directory: Path, *tasks: Task, sink: Sink | None = None) -> None:
        """`sink` stands for every sink of the route."""
        self.player = Player()
        routes = (route.core_route("search"),)
        self.player.play(ev.HostsConfigured(self.player.at, (a_host("local", 4),), routes=routes))
        self.player.open(*tasks)
        self.player.run_to_end()
        sinks = open_sinks({"search": route}, directory, {})
        if sink is not None:
            sinks = sinks._replace(sinks=dict.fromkeys(sinks.sinks, sink))
        self.delivering = Delivering(
            self.player.book, self.submit, lambda: self.player.at, {"search": route}, sinks, "j"
        )

    async def submit(self, event: ev.Input) -> None:
        self.tell(event)
        await asyncio.sleep(0)

    def tell(self, event: ev.Input) -> None:
        before = len(self.player.journal)
        self.player.play(event)
        self.delivering.recorded(self.player.journal[before:])

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(90):
            while not condition():  # noqa: ASYNC110  # any condition of the book's
                await asyncio.sleep(0.01)


class Odd:
    """Fails each letter once, with what no driver says it raises."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.got: list[str] = []

    async def send(self, letter: Letter) -> None:
        self.seen.append(letter.task)
        if self.seen.count(letter.task) == 1:
            raise RuntimeError("an odd one")
        self.got.append(letter.task)

    async def close(self) -> None:
        await asyncio.sleep(3600)


async def test_an_error_that_no_driver_speaks_of_costs_one_try_and_a_sink_that_will_not_close_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Odd()
    monkeypatch.setattr(module, "_CLOSE_S", 0.01)
    route = RouteConfig(sinks=(FileSinkConfig(path="x"),), order="app")
    post = Post(route, tmp_path, *(a_task(f"t{n}", app="search") for n in range(3)), sink=odd)
    await post.until(lambda: not post.player.book.outbox.waiting)
    assert odd.got == ["t0", "t1", "t2"]
    assert await post.delivering.close() == 0


async def test_a_letter_that_is_given_up_and_asked_for_in_the_same_breath_goes_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stubborn(Odd):
        async def send(self, letter: Letter) -> None:
            self.seen.append(letter.key)
            if len(self.seen) == 1:
                raise SinkError("no", permanent=True)

    stubborn = Stubborn()
    monkeypatch.setattr(module, "_CLOSE_S", 0.01)
    post = Post(RouteConfig(sinks=(FileSinkConfig(path="x"),)), tmp_path, a_task("a", app="search"), sink=stubborn)
    plain = post.tell

    def with_a_wish(event: ev.Input) -> None:
        plain(event)
        if isinstance(event, ev.DeliveryGivenUp):
            plain(ev.ResendAsked(post.player.at))

    monkeypatch.setattr(post, "tell", with_a_wish)
    await post.until(lambda: not post.player.book.outbox.waiting)
    assert stubborn.seen == ["j-1", "j-1"]
    assert post.player.book.outbox.dead == {}
    await post.delivering.close()


async def test_ten_thousand_letters_for_a_sink_that_is_down_are_no_ten_thousand_tasks(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()  # nothing can be written to it
    post = Post(RouteConfig(sinks=(FileSinkConfig(path="x"),)), tmp_path, a_task("a", app="search"))
    outbox = post.player.book.outbox
    for number in range(2, 10_001):
        outbox.waiting[number] = type(outbox.waiting[1])(number, "search", "file-1", "r", "a", 1, str(number), 0.0)
    outbox.last = 10_000
    post.delivering.recorded(())
    await asyncio.sleep(0.5)
    assert len(asyncio.all_tasks()) < 40
    assert await post.delivering.close(0.1) == 10_000


async def test_replies_to_many_addresses_go_through_one_pool(tmp_path: Path, hook: Hook) -> None:
    origin = hook.url.removesuffix("hook")
    tasks = [a_task(f"t{n}", app="search", reply_to=f"{origin}{n}") for n in range(30)]
    post = Post(RouteConfig(reply_to=(origin,)), tmp_path, *tasks)
    await post.until(lambda: not post.player.book.outbox.waiting)
    assert sorted(letter["task"] for letter in hook.letters) == sorted(task.id for task in tasks)
    assert len(post.delivering._replies) == len(post.delivering._queues) == 1
    await post.delivering.close()
