"""The stories find bugs: each of these is put into the dispatcher on purpose, and some story must notice it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from engine.sim.dispatcher_story import tell
from manyhands.core import snapshot
from manyhands.core.events import AnyEvent, Input
from manyhands.core.state import Running
from manyhands.core.values.ending import Ending
from manyhands.engine import session
from manyhands.engine.clock import Clock
from manyhands.engine.delivery.delivering import Delivering
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.sim.dispatched.dispatcher_life import DispatcherLife
from manyhands.engine.store.memory_store import MemoryJournal

STORIES_MAX = 12
Plant = Callable[[pytest.MonkeyPatch], None]


def acknowledge_before_the_append(patch: pytest.MonkeyPatch) -> None:
    async def submit(self: Dispatcher, *events: Input) -> None:
        for event in events:
            self.tell(event)

    patch.setattr(Dispatcher, "submit", submit)


def start_before_the_append(patch: pytest.MonkeyPatch) -> None:
    async def take_turn(self: Dispatcher) -> None:
        happened, self._inbox = self._inbox, []
        answered, self._answered = self._answered, []
        batch, commands = self._decide(happened)
        for command in commands:
            self._carry_out(command)
        await self._in_writer(partial(self._journal.append, batch, answered))
        for told in self.recorded:
            told(batch)

    patch.setattr(Dispatcher, "_take_turn", take_turn)


def drop_an_ending_now_and_then(patch: pytest.MonkeyPatch) -> None:
    ended = Dispatcher.ended

    def dropping(self: Dispatcher, attempt: int, ending: Ending) -> None:
        if attempt % 7:
            ended(self, attempt, ending)

    patch.setattr(Dispatcher, "ended", dropping)


def leave_survivors_alive(patch: pytest.MonkeyPatch) -> None:
    async def leave(*_: Any) -> None:
        pass

    patch.setattr(session, "_kill_survivors", leave)


def adopt_nothing(patch: pytest.MonkeyPatch) -> None:
    def refuse(self: Dispatcher, running: Running, executor: object) -> bool:
        return False

    patch.setattr(Dispatcher, "adopt", refuse)


def answer_a_request_without_its_event(patch: pytest.MonkeyPatch) -> None:
    def take(self: Dispatcher, waiting: Sequence[tuple[int, AnyEvent]]) -> None:
        self._answered += [request for request, _ in waiting]
        self._arrived.set()

    patch.setattr(Dispatcher, "_take", take)


def leave_answered_requests_in_place(patch: pytest.MonkeyPatch) -> None:
    append = MemoryJournal.append
    patch.setattr(MemoryJournal, "append", lambda self, events, answered=(): append(self, events))


def overlook_requests_left_while_nobody_dispatched(patch: pytest.MonkeyPatch) -> None:
    take = Dispatcher._take

    def only_when_woken(self: Dispatcher, waiting: Sequence[tuple[int, AnyEvent]]) -> None:
        if self._inbox and type(self._inbox[-1]).__name__ == "HostsConfigured":
            return
        take(self, waiting)

    patch.setattr(Dispatcher, "_take", only_when_woken)


def say_delivered_of_what_was_refused(patch: pytest.MonkeyPatch) -> None:
    sent = Delivering._sent

    async def hopeful(self: Delivering, delivery: Any) -> None:
        await sent(self, delivery)

    patch.setattr(Delivering, "_sent", hopeful)


def let_the_clock_go_backwards(patch: pytest.MonkeyPatch) -> None:
    clock_from = DispatcherLife._clock_from

    def careless(self: DispatcherLife, not_before: float) -> Clock:
        return clock_from(self, 0.0)

    patch.setattr(DispatcherLife, "_clock_from", careless)


def save_a_snapshot_under_the_wrong_number(patch: pytest.MonkeyPatch) -> None:
    async def save(self: Dispatcher) -> None:
        last = self._journal.last
        await self._in_writer(partial(self._journal.save_snapshot, last - 1, snapshot.save(self.scheduler)))
        self._snapshot_at = last

    patch.setattr(Dispatcher, "_save_snapshot", save)


PLANTS: tuple[tuple[Plant, str], ...] = (
    (acknowledge_before_the_append, "was promised"),
    (start_before_the_append, "before its start was on disk"),
    (drop_an_ending_now_and_then, "never comes to its end"),
    (leave_survivors_alive, "holds its claims|still alive"),
    (adopt_nothing, "holds its claims|still alive"),
    (answer_a_request_without_its_event, "was promised"),
    (leave_answered_requests_in_place, "and was asked for"),
    (overlook_requests_left_while_nobody_dispatched, "are left unanswered"),
    (say_delivered_of_what_was_refused, "no sink has it"),
    (let_the_clock_go_backwards, "time goes backwards|never comes to its end"),
    (save_a_snapshot_under_the_wrong_number, "they differ|after recovery|cannot become"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("plant", "complaint"), PLANTS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_planted_bug_is_found(plant: Plant, complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises(Exception, match=complaint):
        tell_some()


def tell_some() -> None:
    for seed in range(STORIES_MAX):
        tell("everything", seed)
