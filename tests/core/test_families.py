"""Tasks that need one disruptive step together: they are batched, verified, reverted, and the harmful one is found."""

from typing import Any

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Family
from manyhands.core.values.task import TaskState

FAILED = Ending(EndingKind.FAILED, "it broke")
LOST = Ending(EndingKind.LOST, "the dispatcher died under it")


def a_family(name: str = "kernel", **fields: Any) -> Family:
    steps = {step: (step, "{family}", "{round}") for step in ("snapshot", "disrupt", "healthy", "revert")}
    return Family(name, "local", **steps, **fields)


class Families(Player):
    def __init__(self, *families: Family, width: int = 4) -> None:
        super().__init__(a_host("local", width))
        self.play(ev.HostsConfigured(self.at, (a_host("local", width),), (), families))

    def moves(self) -> list[tuple[int, str]]:
        return [(event.round, event.phase) for event in self.journal if isinstance(event, ev.FamilyMoved)]

    def work(self, *bad: str) -> None:
        """Everything that starts ends well, but for steps whose id ends so; until nothing runs."""
        while self.book.running:
            for running in list(self.book.running.values()):
                id = running.record.task.id
                self.end(id, ending=FAILED if id.endswith(bad) else Ending(EndingKind.DONE))
            self.wait(60.0)

    def rounds_of(self, *names: str) -> list[str]:
        return [id for id in self.started if id.partition(".")[2] in names]


def member(id: str, family: str = "kernel", **fields: Any) -> Any:
    return a_task(id, family=family, check=("check", id), **fields)


def test_a_family_is_done_around_one_disruptive_step_behind_a_barrier() -> None:
    player = Families(a_family())
    player.open(a_task("first"), member("a", needs=("first",)), member("b"), a_task("after", needs=("a",)))
    assert player.started == ["first"], "a batch begins when all of it can"
    player.end("first")
    assert player.started[1:] == ["kernel~1.snapshot"]
    player.add(a_task("other", priority=0))
    assert "other" not in player.started, "the host is kept, also from what is more urgent"
    player.end("kernel~1.snapshot")
    assert player.started[2:] == ["kernel~1.apply.a", "kernel~1.apply.b"], "members go side by side"
    assert player.state("a") is TaskState.DEFERRED
    player.end("kernel~1.apply.a", "kernel~1.apply.b")
    player.end("kernel~1.disrupt")
    player.end("kernel~1.healthy")
    assert player.started[-2:] == ["kernel~1.verify.a", "kernel~1.verify.b"]
    player.end("kernel~1.verify.a", "kernel~1.verify.b")
    assert player.state("a") is player.state("b") is TaskState.DONE
    assert sorted(player.started[-2:]) == ["after", "other"], "and then the host is free"
    assert player.moves() == [(1, "trying"), (1, "over")]
    disrupt = player.book.runs["r"].records["kernel~1.disrupt"].task
    assert disrupt.run == ("disrupt", "kernel", "1")


def test_a_family_that_does_harm_is_put_back_whole() -> None:
    player = Families(a_family())
    player.open(member("a"), member("b"), a_task("after", needs=("b",)))
    player.work("healthy", "recovered")
    assert player.moves() == [(1, "trying"), (1, "reverting"), (1, "stuck")], "not healthy after the revert either"
    assert player.book.hosts["local"].paused
    assert player.state("after") is TaskState.SKIPPED
    player = Families(a_family())
    player.open(member("a"), member("b"))
    player.work("verify.b")
    assert player.moves() == [(1, "trying"), (1, "reverting"), (1, "over")]
    records = player.book.runs["r"].records
    assert [records[id].state for id in "ab"] == [TaskState.FAILED] * 2
    assert records["a"].cause.why == "its family was reverted: verify b of kernel: it broke"
    assert player.book.hosts["local"].paused is None


def test_nothing_is_put_back_where_the_snapshot_failed() -> None:
    player = Families(a_family())
    player.open(member("a"))
    player.work("snapshot")
    assert player.started == ["kernel~1.snapshot"]
    assert player.state("a") is TaskState.FAILED


@pytest.mark.parametrize("culprit", range(7))
def test_a_family_is_halved_until_the_culprit_is_found_and_the_others_are_done(culprit: int) -> None:
    members = [f"m{n}" for n in range(7)]
    player = Families(a_family(bisect=True))
    player.open(*(member(id) for id in members))
    bad = f"m{culprit}"
    while player.book.running:  # any round with the culprit in it is not healthy
        for running in list(player.book.running.values()):
            id = running.record.task.id
            family = player.book.runs["r"].families["kernel"]
            player.end(id, ending=FAILED if id.endswith(".healthy") and bad in family.trying else ev_done())
        player.wait(60.0)
    states = {id: player.state(id) for id in members}
    assert states == {id: TaskState.FAILED if id == bad else TaskState.DONE for id in members}
    rounds = max(round for round, _ in player.moves())
    assert 3 <= rounds <= 7, "halving, not one by one and not without end"


def ev_done() -> Ending:
    return Ending(EndingKind.DONE)


def test_who_fails_by_itself_is_left_out_and_the_rest_tried_again() -> None:
    player = Families(a_family(bisect=True))
    player.open(member("a"), member("b"), member("c"))
    player.work("apply.b")
    assert [player.state(id) for id in "abc"] == [TaskState.DONE, TaskState.FAILED, TaskState.DONE]
    assert player.rounds_of("apply.a", "apply.c") == [
        "kernel~1.apply.a",
        "kernel~1.apply.c",
        "kernel~2.apply.a",
        "kernel~2.apply.c",
    ]


@pytest.mark.parametrize("step", ["apply.a", "disrupt"])
def test_what_was_cut_short_is_put_back_and_made_again(step: str) -> None:
    player = Families(a_family())
    player.open(member("a"))
    while f"kernel~1.{step}" not in player.started:
        player.end(player.started[-1])
    player.end(f"kernel~1.{step}", ending=LOST)
    assert player.started[-1] == "kernel~1.revert"
    player.work()
    assert player.state("a") is TaskState.DONE
    assert player.moves() == [(1, "trying"), (1, "reverting"), (2, "trying"), (2, "over")]


@pytest.mark.parametrize("step", ["snapshot", "healthy", "verify.a"])
def test_a_step_that_only_looks_is_made_again_after_a_crash(step: str) -> None:
    player = Families(a_family())
    player.open(member("a"))
    while f"kernel~1.{step}" not in player.started:
        player.end(player.started[-1])
    player.end(f"kernel~1.{step}", ending=LOST)
    player.work()
    assert player.state("a") is TaskState.DONE
    assert player.moves() == [(1, "trying"), (1, "over")]
    assert player.started.count(f"kernel~1.{step}") == 2


def test_a_round_that_is_cut_short_again_and_again_is_given_up() -> None:
    player = Families(a_family())
    player.open(member("a"))
    while player.book.running:
        id = next(iter(player.book.running.values())).record.task.id
        player.end(id, ending=LOST if id.endswith("disrupt") else ev_done())
    assert player.state("a") is TaskState.FAILED
    assert max(round for round, _ in player.moves()) == 4


def test_safer_families_go_first_and_only_one_at_a_time_on_a_host() -> None:
    player = Families(a_family("kernel", rank=2), a_family("services", rank=1))
    player.open(a_task("slow"), member("k"), member("s", family="services", needs=("slow",)))
    assert player.started == ["slow"], "the safer one still waits for a task, so the other waits for it"
    player.work()
    assert player.started.index("services~1.verify.s") < player.started.index("kernel~1.snapshot")
    assert [player.state(id) for id in "ks"] == [TaskState.DONE] * 2


def test_the_order_yields_where_the_safer_family_needs_the_other() -> None:
    player = Families(a_family("kernel", rank=2), a_family("services", rank=1))
    player.open(member("k"), member("s", family="services", needs=("k",)))
    player.work()
    assert [player.state(id) for id in "ks"] == [TaskState.DONE] * 2


def test_a_member_that_a_person_put_off_is_left_out_of_the_batch() -> None:
    player = Families(a_family())
    player.open(a_task("first"), member("a", needs=("first",)), member("b"))
    player.play(ev.DeferAsked(player.at, "r", "b"))
    player.work()
    assert [player.state(id) for id in "ab"] == [TaskState.DONE, TaskState.DEFERRED]
    player.play(ev.ResumeAsked(player.at, "r", "b"))
    player.work()
    assert player.state("b") is TaskState.DONE
    assert player.moves()[-1] == (2, "over")


def test_a_journal_and_a_snapshot_bring_a_family_back_in_any_moment() -> None:
    player = Families(a_family(bisect=True))
    player.open(member("a"), member("b"))
    while player.book.running:
        for running in list(player.book.running.values()):
            id = running.record.task.id
            player.end(id, ending=FAILED if id.endswith("verify.b") else ev_done())
        replayed, restored = Scheduler(), Scheduler()
        replayed.replay(player.journal)
        assert snapshot.load(restored, snapshot.save(player.scheduler))
        restored.replay(())
        assert snapshot.save(replayed) == snapshot.save(player.scheduler) == snapshot.save(restored)
        player.wait(60.0)
    assert [player.state(id) for id in "ab"] == [TaskState.DONE, TaskState.FAILED]


def test_putting_back_is_seen_to_its_end_when_the_run_is_cancelled() -> None:
    player = Families(a_family())
    player.open(member("a"), member("b"))
    while "kernel~1.revert" not in player.started:
        last = player.started[-1]
        player.end(*player.running, ending=FAILED if last.endswith("disrupt") else ev_done())
    player.play(ev.CancelAsked(player.at, "r", ""))
    assert player.running == ["kernel~1.revert"]
    player.work()
    assert player.moves()[-1] == (1, "over")
    assert [player.state(id) for id in "ab"] == [TaskState.CANCELLED] * 2
    assert player.book.hosts["local"].paused is None


def test_a_family_that_leaves_the_config_in_the_middle_finishes_its_round() -> None:
    player = Families(a_family())
    player.open(member("a"))
    player.play(ev.HostsConfigured(player.at, (a_host("local", 4),)))
    player.work()
    assert player.state("a") is TaskState.DONE
    player.play(ev.HostsConfigured(player.at, (a_host("local", 4),)))
    assert player.book.families == {}


def test_an_edit_takes_a_member_out_of_its_family_or_in_but_not_in_the_middle_of_a_round() -> None:
    player = Families(a_family())
    player.open(a_task("first"), member("a", needs=("first",)), member("b"), a_task("c", needs=("first",)))
    player.play(ev.TaskEdited(player.at, "r", a_task("b")), ev.TaskEdited(player.at, "r", member("c")))
    assert player.running == ["first", "b"]
    player.end("first", "b")
    player.end("kernel~1.snapshot")
    assert player.running == ["kernel~1.apply.a", "kernel~1.apply.c"]
    player.play(ev.TaskEdited(player.at, "r", a_task("c")))
    player.work()
    assert player.book.runs["r"].records["c"].task.family == "kernel"
    assert [player.state(id) for id in "abc"] == [TaskState.DONE] * 3


def test_fail_fast_puts_back_first_and_tries_no_other_half() -> None:
    player = Families(a_family(bisect=True))
    player.open(member("a"), member("b"), member("c"), fail_fast=True)
    player.work("apply.b")
    assert [player.state(id) for id in "abc"] == [TaskState.CANCELLED, TaskState.FAILED, TaskState.CANCELLED]
    assert player.moves() == [(1, "trying"), (1, "reverting"), (1, "over")]
