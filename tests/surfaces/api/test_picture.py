"""The picture is a function of the events: live, replayed, or told to one who came late, it is the same."""

import json
import random
import time
from contextlib import closing
from typing import Any

import httpx
import msgspec
import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.store.store_opening import open_reader
from manyhands.surfaces.api.picture.picture import Picture
from manyhands.surfaces.api.picture.recording import Recording
from surfaces.api.live import nap, offered, open_run, shell, store_of


class Seen:
    """What a page has after a snapshot and changes: the same reducer in a few lines."""

    def __init__(self, snapshot: dict[str, Any]) -> None:
        snapshot = plain(snapshot)
        tasks, bars = snapshot["tasks"], snapshot["bars"]
        self.tasks = {
            (run, task): state
            for run, task, state in zip(column(tasks["run"]), tasks["task"], column(tasks["state"]), strict=True)
        }
        places = zip(bars["attempt"], column(bars["host"]), bars["slot"], strict=True)
        self.slots = {attempt: (host, slot) for attempt, host, slot in places}
        self.endings = dict(zip(bars["attempt"], column(bars["ending"]), strict=True))
        self.counts = {run["run"]: run["counts"] for run in snapshot["runs"]}
        self.hosts = {host["host"]: host for host in snapshot["hosts"]}

    def apply(self, changes: list[dict[str, Any]]) -> None:
        for change in plain(changes):
            match change.pop("t"):
                case "task":
                    self.tasks[change["run"], change["task"]] = change["state"]
                case "start":
                    assert change["attempt"] not in self.slots, "told once"
                    self.slots[change["attempt"]] = (change["host"], change["slot"])
                    self.endings[change["attempt"]] = ""
                case "end":
                    assert self.endings[change["attempt"]] == "", "told once"
                    self.endings[change["attempt"]] = change["ending"]
                case "run" | "counts":
                    self.counts[change["run"]] = change["counts"]
                case "host":
                    self.hosts[change["host"]] = change

    def facts(self) -> tuple[object, ...]:
        return self.tasks, self.slots, self.endings, self.counts, self.hosts


def plain(value: Any) -> Any:
    """As it comes over the wire."""
    return msgspec.json.decode(msgspec.json.encode(value))


def column(coded: dict[str, Any]) -> list[str]:
    return [coded["values"][place] for place in coded["index"]]


class Story:
    """Plays to a scheduler and tells a picture of each batch, as a dispatcher does."""

    def __init__(self) -> None:
        self.player = Player(a_host("one", 2), a_host("two", 3, kinds=("late",)))
        self.picture = Picture(self.player.book)

    def play(self, *happened: ev.Input) -> list[dict[str, Any]]:
        told = len(self.player.journal)
        self.player.play(*happened)
        batch = [event for event in self.player.journal[told:] if not isinstance(event, ev.Woke)]
        return self.picture.changes(batch) + self.picture.standing()


def random_step(story: Story, rng: random.Random, at: float, ids: list[str]) -> tuple[ev.Input, ...]:
    running = list(story.player.book.running)
    deed = rng.choice(
        ("add", "end", "end", "end", "defer", "resume", "retry", "edit", "cancel", "pause", "width", "wake")
    )
    task = rng.choice(ids) if ids else ""
    if deed == "add" or not ids:
        needs = tuple(rng.sample(ids, min(len(ids), rng.randrange(3))))
        claims = writes(rng.choice(("src/a", "src/b")))
        new = [a_task(f"t{at}-{n}", needs=needs, claims=claims, kind=rng.choice(("code", "late"))) for n in range(3)]
        ids += [one.id for one in new]
        return (ev.TasksSubmitted(at, "r", tuple(new)),)
    if deed == "end" and running:
        kinds = (EndingKind.DONE, EndingKind.DONE, EndingKind.FAILED, EndingKind.OVERLOADED)
        chosen = rng.sample(running, min(len(running), rng.randrange(1, 3)))
        return tuple(ev.AttemptEnded(at, one, Ending(rng.choice(kinds))) for one in chosen)
    simple: dict[str, ev.Input] = {
        "defer": ev.DeferAsked(at, "r", task),
        "resume": ev.ResumeAsked(at, "r", task),
        "retry": ev.RetryAsked(at, "r", task),
        "edit": ev.TaskEdited(at, "r", a_task(task, priority=rng.randrange(5))),
        "cancel": ev.CancelAsked(at, "r", task),
        "pause": rng.choice((ev.HostPaused(at, "one", until=at + 5), ev.HostResumed(at, "one"))),
        "width": ev.WidthSet(at, "two", rng.choice((1, 5, None))),
    }
    return (simple.get(deed, ev.Woke(at)),)


@pytest.mark.parametrize("seed", range(12))
def test_changes_lead_from_any_snapshot_to_the_next_and_a_replay_shows_the_same(seed: int) -> None:
    rng = random.Random(seed)
    story, ids, at = Story(), [], 0.0
    first = Seen(story.picture.snapshot())
    first.apply(story.play(ev.RunOpened(at, "r")))
    since_middle: Seen | None = None
    for step in range(80):
        at += rng.choice((0.0, 0.5, 3.0))
        changes = story.play(*random_step(story, rng, at, ids))
        first.apply(changes)
        if since_middle is not None:
            since_middle.apply(changes)
        elif step == 40:
            since_middle = Seen(story.picture.snapshot())
    now = Seen(story.picture.snapshot())
    book = story.player.book
    truth = {(record.run, id): str(record.state) for run in book.runs.values() for id, record in run.records.items()}
    # A task that a timer let go is told of with the next batch.
    assert now.tasks == truth
    assert first.facts() == now.facts()
    assert since_middle is not None
    assert since_middle.facts() == now.facts()
    journal = [event for event in story.player.journal if not isinstance(event, ev.Woke)]
    replayed = recorded_of(journal)
    assert (replayed.slots, replayed.endings) == (now.slots, now.endings)


def recorded_of(journal: list[ev.AnyEvent]) -> Seen:
    recording = Recording(enumerate(journal, 1), "r")
    snapshot = recording.snapshot()
    assert snapshot is not None
    seen = Seen(snapshot)
    for frame in recording.frames():
        seen.apply(frame["changes"])
    return seen


@pytest.mark.parametrize("is_finished", [True, False])
def test_a_recording_ends_with_its_run_whatever_later_dispatchers_do(is_finished: bool) -> None:
    """The run took 5 s. Forty seconds later others use the store: one continues the run, or lets it wait."""
    player = Player(a_host("one", 1))
    player.open(a_task("a"), a_task("b"), run="r")
    player.end("a", after_s=4.0)
    player.play(*([] if is_finished else [ev.RunStopped(player.at, "r")]))
    player.end("b", ending=Ending(EndingKind.DONE if is_finished else EndingKind.CANCELLED))
    player.at = 45.0
    later: list[ev.Input] = [ev.HostsConfigured(player.at, (a_host("one", 1), a_host("two", 1)))]
    later += [ev.RunResumed(player.at, "r") if is_finished else ev.RunDrained(player.at, "r")]
    player.play(*later)
    player.open(a_task("c"), run="other")
    player.end("c")
    recording = Recording(enumerate(player.journal, 1), "r")
    assert recording.snapshot() is not None
    assert [frame["at"] for frame in recording.frames()][-1] == 5.0


def test_a_run_that_continues_later_is_recorded_to_its_real_end() -> None:
    player = Player(a_host("one", 1))
    player.open(a_task("a"), a_task("b"), run="r")
    player.end("a")
    player.play(ev.RunStopped(player.at, "r"))
    player.end("b", ending=Ending(EndingKind.CANCELLED))
    player.at = 45.0
    player.play(ev.HostsConfigured(player.at, (a_host("one", 1),)), ev.RunResumed(player.at, "r"))
    player.end("b")
    recording = Recording(enumerate(player.journal, 1), "r")
    assert recording.snapshot() is not None
    assert [frame["at"] for frame in recording.frames()][-1] == 46.0


def test_a_bar_keeps_the_smallest_slot_that_was_free() -> None:
    story = Story()
    story.play(ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tuple(a_task(f"t{n}") for n in range(4))))
    story.play(ev.AttemptEnded(1.0, 1, Ending(EndingKind.DONE)))  # t2 takes slot 0 while t1 keeps slot 1
    story.play(ev.AttemptEnded(2.0, 2, Ending(EndingKind.DONE)))
    bars = story.picture.snapshot()["bars"]
    assert dict(zip(bars["task"], bars["slot"], strict=True)) == {"t0": 0, "t1": 1, "t2": 0, "t3": 1}
    assert dict(zip(bars["task"], bars["queued_at"], strict=True)) == dict.fromkeys(("t0", "t1", "t2", "t3"), 0.0)


def test_what_was_spent_is_told_with_each_ending_and_in_all() -> None:
    story = Story()
    story.play(ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tuple(a_task(f"t{n}") for n in range(2))))
    assert story.picture.snapshot()["cost"] is None
    changes = story.play(ev.AttemptEnded(1.0, 1, Ending(EndingKind.DONE, tokens_in=5, cost=0.25)))
    changes += story.play(ev.AttemptEnded(2.0, 2, Ending(EndingKind.DONE, tokens_out=6, cost=0.5)))
    assert [change["cost"] for change in changes if change["t"] == "end"] == [0.25, 0.5]
    totals = [(change["tokens"], change["cost"]) for change in changes if change["t"] == "cost"]
    assert totals == [({"in": 5, "out": 0}, 0.25), ({"in": 5, "out": 6}, 0.75)]
    snapshot = story.picture.snapshot()
    assert (snapshot["tokens"], snapshot["cost"]) == ({"in": 5, "out": 6}, 0.75)
    assert (snapshot["bars"]["tokens"], snapshot["bars"]["cost"]) == ([5, 6], [0.25, 0.5])


def test_the_ceiling_is_what_needs_and_claims_of_what_is_left_allow() -> None:
    player = Player(a_host("local", 8))
    picture = Picture(player.book)

    def ceiling() -> int | None:
        picture.changes(())
        picture.standing()
        found: int | None = picture.snapshot()["waiting"]["ceiling"]
        return found

    player.open(*(a_task(f"t{n}", claims=writes(f"src/{n % 3}.py")) for n in range(6)), a_task("last", needs=("t0",)))
    assert ceiling() == 4, "one a file, and what waits for the first of them"
    player.end("t0")
    player.wait(2.0)
    player.end("t3", "last")
    player.wait(2.0)
    assert ceiling() == 2
    player.add(*(a_task(f"many{n}") for n in range(200)))
    player.wait(2.0)
    assert ceiling() is None, "too many to be worth it"


def test_a_batch_costs_the_same_among_two_hundred_and_two_hundred_thousand() -> None:
    few_s, many_s = (cheapest_s(count) for count in (200, 200_000))
    assert many_s < 5 * few_s + 0.001, f"{few_s * 1e6:.0f} µs among 200, {many_s * 1e6:.0f} µs among 200,000"


def cheapest_s(count: int) -> float:
    """Of the processor's time, as others may be at work on it too; the least of some."""
    story = Story()
    story.play(ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tuple(a_task(f"t{n}") for n in range(count))))
    took = []
    for n in range(1, 40):
        told = len(story.player.journal)
        step = story.player.scheduler.handle([ev.AttemptEnded(float(n), n, Ending(EndingKind.DONE))])
        batch = [ev.AttemptEnded(float(n), n, Ending(EndingKind.DONE)), *step.decisions]
        assert told
        began = time.thread_time()
        story.picture.changes(batch)
        story.picture.standing()
        took.append(time.thread_time() - began)
    return min(took)


async def test_the_recording_of_a_finished_run_ends_where_the_live_picture_did(live: Dispatcher) -> None:
    tasks = [nap(f"n{n}") for n in range(8)] + [
        shell("bad", "exit 3", attempts=1),
        shell("after", "true", needs=("bad",)),
    ]
    async with offered(live) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        await open_run(live, tasks)
        await live.wait_settled("r")
        answer = await client.get("/api/v1/runs/r/recording")
        assert (answer.status_code, answer.headers["content-encoding"]) == (200, "gzip")
        recording = answer.json()
        trace = (await client.get("/api/v1/runs/r/export.trace.json")).json()
        page = (await client.get("/api/v1/runs/r/export.html")).text
        review = await client.get("/api/v1/runs/r/review.html")
        story = (await client.get("/api/v1/tasks/r/bad/story")).json()["story"]
        missing = await client.get("/api/v1/runs/nothing/recording")
    seen = Seen(recording["snapshot"])
    assert seen.tasks == {}, "it begins with nothing"
    for frame in recording["frames"]:
        seen.apply(frame["changes"])
    run = live.book.runs["r"]
    assert seen.tasks == {("r", id): str(record.state) for id, record in run.records.items()}
    assert seen.counts["r"] == {str(state): n for state, n in run.counts.items()}
    assert recording["truncated"] is False
    assert sum(event["ph"] == "X" for event in trace["traceEvents"]) == 9
    assert "<html" in page
    assert (review.status_code, "<h1>r</h1>" in review.text) == (200, True)
    assert "default-src 'none'" in review.headers["content-security-policy"], "nothing in it may run"
    assert [told["text"] for told in story[-2:]] == [
        "attempt 1 on commands starts",
        "attempt 1 on commands ends failed: exit 3",
    ]
    assert missing.status_code == 404


async def test_a_run_of_another_process_is_recorded_from_its_store_alone(live: Dispatcher) -> None:
    await open_run(live, [nap("a"), nap("b", needs=("a",))])
    await live.wait_settled("r")
    with closing(open_reader(store_of(live))) as reader:
        recording = Recording(reader.read(), "r")
        snapshot = recording.snapshot()
        assert snapshot is not None
        seen = Seen(snapshot)
        for frame in recording.frames():
            seen.apply(frame["changes"])
    assert seen.tasks == {("r", "a"): "done", ("r", "b"): "done"}
    with closing(open_reader(store_of(live))) as reader:
        assert Recording(reader.read(), "other").snapshot() is None


def test_a_snapshot_says_how_many_there_are_when_it_shows_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manyhands.surfaces.api.picture.columns.TASKS_MAX", 10)
    story = Story()
    story.play(ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tuple(a_task(f"t{n}") for n in range(30))))
    for n in range(1, 16):
        story.play(ev.AttemptEnded(float(n), n, Ending(EndingKind.DONE)))
    tasks = story.picture.snapshot()["tasks"]
    assert (tasks["total"], tasks["shown"], len(tasks["task"])) == (30, 10, 10)
    assert TaskState.DONE not in column(tasks["state"]), "what is unfinished comes first"
    assert json.loads(msgspec.json.encode(tasks))["shown"] == 10


def test_an_overload_says_what_it_was_live_and_for_a_page_that_comes_later() -> None:
    endings = {
        "a": Ending(EndingKind.OVERLOADED, "429", rate_limited=True),
        "b": Ending(EndingKind.OVERLOADED, "cannot reach it", unreachable=True),
        "c": Ending(EndingKind.OVERLOADED, "busy"),
        "d": Ending(EndingKind.FAILED),
    }
    player = Player(a_host(width=4))
    player.open(*(a_task(name) for name in endings))
    picture = Picture(player.book)
    read = len(player.journal)
    for name, ending in endings.items():
        player.end(name, ending=ending)
    told = [row for row in picture.changes(player.journal[read:]) if row["t"] == "end"]
    assert [row["overload"] for row in told] == ["rate", "unreachable", "load", ""]
    bars = plain(Picture(player.book).snapshot()["bars"])
    overloads = dict(zip(bars["attempt"], column(bars["overload"]), strict=True))
    assert [overloads[row["attempt"]] for row in told] == ["rate", "unreachable", "load", ""]


def test_kinds_keep_their_places_live_and_after_a_restart() -> None:
    player = Player(a_host(width=4))
    player.open(a_task("a", kind="zebra"), run="one")
    picture = Picture(player.book)
    read = len(player.journal)
    player.open(a_task("b", kind="code"), run="two")
    player.add(a_task("c", kind="art"), a_task("d", kind="code"), run="one")
    picture.changes(player.journal[read:])
    assert picture.snapshot()["kinds"] == ["zebra", "code", "art"]
    assert Picture(player.book).snapshot("two")["kinds"] == ["zebra", "code", "art"]
