"""Families on a machine made of sets, under random endings and a person's random words: nothing is left half done."""

import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Family, Host
from manyhands.core.values.provenance import CausedBy
from manyhands.core.values.task import TERMINAL, Task, TaskState

GAMES = 4000 if os.environ.get("MANYHANDS_SOAK") else 150
GAMES_A_TEST = 50
DONE = Ending(EndingKind.DONE)
FAILED = Ending(EndingKind.FAILED, "it broke")
LOST = Ending(EndingKind.LOST, "the dispatcher died under it")


class Machine:
    """What members wrote, what runs since the last disruption, and the snapshots of both."""

    def __init__(self) -> None:
        self.written: set[str] = set()
        self.running: set[str] = set()
        self.saved: dict[str, tuple[set[str], set[str]]] = {}

    def carry_out(self, who: str, step: str, poison: set[str]) -> bool:
        """`who` is the family and round of the run; the answer is whether the step's command passes."""
        what, _, member = step.partition(".")
        match what:
            case "snapshot":
                self.saved[who] = (set(self.written), set(self.running))
            case "apply":
                self.written.add(f"{who.partition('/')[0]}/{member}")
            case "disrupt":
                self.running = set(self.written)
            case "healthy" | "recovered":
                return not self.running & poison
            case "revert":
                self.written, self.running = set(self.saved[who][0]), set(self.saved[who][1])
            case "verify":
                return f"{who.partition('/')[0]}/{member}" in self.running
        return True


class Game:
    """One random history. A person may say anything at any moment; what has begun is seen to its end."""

    def __init__(self, seed: int, quiet: bool = False) -> None:
        self.draw = random.Random(seed)
        self.quiet = quiet  # nobody interferes, nothing is lost
        self.machine = Machine()
        self.is_known = True  # until a revert failed: then a person must look
        self.poison: set[str] = set()
        self.broken: set[str] = set()
        self.players_host = a_host("local", self.draw.choice([1, 2, 4]))
        self.families = self._families()
        self.player = Player(self.players_host)
        self.configure()
        for run in ("r", "s")[: self.draw.choice([1, 2])]:
            self._open(run)

    def _families(self) -> tuple[Family, ...]:
        steps: Any = {step: (step,) for step in ("snapshot", "disrupt", "healthy", "revert")}
        bisect = self.draw.random() < 0.7
        names = ["kernel", "services"][: self.draw.choice([1, 2])]
        return tuple(Family(name, "local", bisect=bisect, rank=place, **steps) for place, name in enumerate(names))

    def configure(self, *families: Family) -> None:
        hosts: tuple[Host, ...] = (self.players_host, a_host("elsewhere", 2, kinds=("other",)))
        self.play(ev.HostsConfigured(self.player.at, hosts, (), families or self.families))

    def _open(self, run: str) -> None:
        tasks: list[Task] = []
        for number in range(self.draw.randrange(1, 7)):
            needs = tuple(task.id for task in tasks if self.draw.random() < 0.15)
            if self.draw.random() < 0.7:
                family = self.draw.choice(self.families).name
                tasks.append(a_task(f"m{number}", family=family, check=("check",), needs=needs))
                if self.draw.random() < 0.15:
                    self.poison.add(f"{run}/m{number}")
                if self.draw.random() < 0.1:
                    self.broken.add(f"{run}/m{number}")
            else:
                kind = self.draw.choice(["code", "other"])
                urgent, willing = self.draw.choice([0, 2]), self.draw.random() < 0.5
                tasks.append(a_task(f"t{number}", kind=kind, priority=urgent, preemptible=willing, needs=needs))
        concurrency = self.draw.choice([None, None, 1])
        fail_fast = self.draw.random() < 0.2 and not self.quiet
        self.player.open(*tasks, run=run, concurrency=concurrency, fail_fast=fail_fast)
        self.check()

    def play(self, *happened: ev.Input) -> None:
        self.player.play(*happened)
        self.check()

    def check(self) -> None:
        book = self.player.book
        self.is_known = self.is_known and not any(
            isinstance(event, ev.FamilyMoved) and event.phase == "stuck" for event in self.player.journal[-20:]
        )
        kept = book.hosts["local"].kept_by
        here = {one.record.barrier for one in book.hosts["local"].running.values()}
        assert not kept or here <= {kept}, "the host is for the family alone until that is over"

    def go_on(self, interfere: bool) -> bool:
        """One thing happens; False if nothing can any more."""
        player = self.player
        player.at += 1.0
        if interfere and self.draw.random() < 0.25:
            self._interfere()
        elif player.book.running:
            self._end(self.draw.choice(list(player.book.running.values())).attempt)
        elif player.book.next_timer() is not None:
            player.at += 60.0
            self.play(ev.Woke(player.at))
        else:
            return False
        return True

    def _end(self, attempt: int) -> None:
        running = self.player.book.running[attempt]
        record = running.record
        if not record.is_step:
            ending = DONE if self.draw.random() < 0.9 else FAILED
        else:
            ending = self._carried_out(record.run, record.task.id, running.stop_why is not None)
        self.play(ev.AttemptEnded(self.player.at, attempt, ending))

    def _carried_out(self, run: str, step: str, is_stopped: bool) -> Ending:
        family_and_round, _, what = step.partition(".")
        who = f"{run}/{family_and_round}"
        is_lost = not self.quiet and (is_stopped or self.draw.random() < 0.05)
        if is_lost and self.draw.random() < 0.5:
            return LOST  # before it came to anything
        if what.startswith("apply") and f"{run}/{what.removeprefix('apply.')}" in self.broken:
            return LOST if is_lost else FAILED
        if not self.quiet and what == "revert" and self.draw.random() < 0.02:
            return FAILED
        passed = self.machine.carry_out(who, what, self.poison)
        return LOST if is_lost else DONE if passed else FAILED

    def _interfere(self) -> None:
        at, book = self.player.at, self.player.book
        run = self.draw.choice(list(book.runs.values()))
        task = self.draw.choice(list(run.records))
        words: list[Callable[[], None]] = [
            lambda: self.play(ev.CancelAsked(at, run.name, task)),
            lambda: self.play(ev.RetryAsked(at, run.name, task)),
            lambda: self.play(ev.DeferAsked(at, run.name, task)),
            lambda: self.play(ev.ResumeAsked(at, run.name, task)),
            lambda: self.play(ev.HostPaused(at, "local", "", at + 30.0)),
            lambda: self.play(ev.RunDrained(at, run.name)),
            lambda: self.play(ev.RunStopped(at, run.name)),
            lambda: self.play(ev.RunResumed(at, run.name, self.draw.choice([None, 1]), run.fail_fast)),
            lambda: self.configure(*self.draw.sample(self.families, 1)),
            lambda: self.configure(),
            lambda: self._edit(run.name, task),
        ]
        if self.draw.random() < 0.05:
            self.play(ev.CancelAsked(at, run.name, ""))
        else:
            self.draw.choice(words)()

    def _edit(self, run: str, id: str) -> None:
        record = self.player.book.runs[run].records[id]
        if record.is_step:
            return  # no backlog knows of it
        task = record.task
        families = ["", *(family.name for family in self.families)]
        edited = a_task(id, kind=task.kind, needs=task.needs, family=self.draw.choice(families), check=task.check)
        if edited.family and edited.kind == "other":
            return
        self.play(ev.TaskEdited(self.player.at, run, edited))

    def settle(self) -> None:
        """The person has left, so everything that was put off or stopped may continue."""
        at, book = self.player.at, self.player.book
        self.configure()
        self.play(ev.HostResumed(at, "local"))
        for run in book.runs.values():
            self.play(ev.RunResumed(at, run.name, None, run.fail_fast))
            for id, record in list(run.records.items()):
                if record.state is TaskState.DEFERRED and record.cause.by is CausedBy.PERSON:
                    self.play(ev.ResumeAsked(at, run.name, id))
        for _ in range(3000):
            if not self.go_on(interfere=False):
                host = book.hosts["local"]
                if host.paused is None:
                    return
                self.play(ev.HostResumed(self.player.at, "local"))
        raise AssertionError("it never ends")


def play(seed: int, quiet: bool = False) -> Game:
    game = Game(seed, quiet)
    for _ in range(0 if quiet else game.draw.randrange(80)):
        if not game.go_on(interfere=True):
            break
    game.settle()
    return game


def outcome(game: Game) -> None:
    book = game.player.book
    for host in book.hosts.values():
        assert host.kept_by is None, "the host is free in the end"
    for run in book.runs.values():
        assert {state.phase for state in run.families.values()} <= {"over"}
        assert run.settled, "and it has been said"
        for id, record in run.records.items():
            assert record.state in TERMINAL, f"{id} is {record.state}: {record.cause.why}"
            if record.task.family and record.history is None and game.is_known:
                is_on = f"{run.name}/{id}" in game.machine.running
                assert is_on == (record.state is TaskState.DONE), f"{id} is {record.state}, on the machine: {is_on}"
    replayed = Scheduler()
    replayed.replay(game.player.journal)
    assert snapshot.save(replayed) == snapshot.save(game.player.scheduler)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, GAMES, GAMES_A_TEST))
def test_whatever_happens_families_end_and_the_machine_has_what_is_done_and_nothing_else(first: int) -> None:
    for seed in range(first, first + GAMES_A_TEST):
        try:
            outcome(play(seed))
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


def test_left_alone_a_bisected_family_fails_exactly_those_that_do_harm() -> None:
    for seed in range(100):
        game = play(seed, quiet=True)
        outcome(game)
        if not all(family.bisect for family in game.families):
            continue
        for run in game.player.book.runs.values():
            for id, record in run.records.items():
                if record.task.family and record.state is not TaskState.SKIPPED:
                    is_bad = f"{run.name}/{id}" in game.poison | game.broken
                    assert is_bad == (record.state is TaskState.FAILED), f"seed {seed}: {id} is {record.state}"
