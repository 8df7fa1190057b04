"""Ordering rules: a kind waits until another has few left."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.explain import explain
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Rule

AFTER_CODE = (Rule("audit", "code", 1),)


def test_a_kind_is_put_off_until_the_other_has_few_enough_left() -> None:
    player = Player(a_host(width=8), rules=AFTER_CODE)
    player.open(*(a_task(f"c{n}") for n in range(3)), a_task("audit", kind="audit"), a_task("text", kind="text"))
    assert player.running == ["c0", "c1", "c2", "text"]
    assert player.state("audit") == "deferred"
    assert player.cause("audit") == "after kind code has at most 1 left"
    record = player.book.runs["r"].records["audit"]
    assert explain(player.book, record, player.at) == ["after kind code has at most 1 left (now 3)"]
    player.end("c0")
    assert player.state("audit") == "deferred"
    player.end("c1")
    assert "audit" in player.running


def test_the_rule_closes_again_when_more_of_the_awaited_kind_arrive() -> None:
    player = Player(a_host(width=1), rules=AFTER_CODE)
    player.open(a_task("c0"), a_task("audit", kind="audit"))
    assert player.state("audit") == "ready"
    player.add(a_task("c1"), a_task("c2"))
    assert player.state("audit") == "deferred"
    assert player.run_to_end() == ["c0", "c1", "audit", "c2"]


def test_rules_go_by_globs_and_never_make_a_kind_wait_for_itself() -> None:
    player = Player(a_host(width=8), rules=(Rule("*", "code-*", 0),))
    player.open(a_task("a", kind="code-a"), a_task("a2", kind="code-a"), a_task("t", kind="text"))
    assert player.running == ["a", "a2"]


def test_failed_skipped_and_cancelled_tasks_are_no_longer_left() -> None:
    player = Player(a_host(width=8), rules=(Rule("audit", "code", 0),))
    player.open(a_task("c0"), a_task("c1", needs=("c0",)), a_task("audit", kind="audit"))
    player.play(ev.CancelAsked(player.at, "r", "c0"))
    player.end("c0", ending=Ending(EndingKind.CANCELLED))
    assert player.running == ["audit"]


def test_a_rule_counts_its_own_run_only() -> None:
    player = Player(a_host(width=8), rules=(Rule("audit", "code", 0),))
    player.open(a_task("c0"), run="s")
    player.open(a_task("audit", kind="audit"), run="r")
    assert sorted(player.running) == ["audit", "c0"]


def test_a_rule_that_is_taken_out_of_the_config_frees_what_it_held() -> None:
    player = Player(a_host(width=8), rules=AFTER_CODE)
    player.open(*(a_task(f"c{n}") for n in range(3)), a_task("audit", kind="audit"))
    player.play(ev.HostsConfigured(player.at, (a_host(width=8),)))
    assert "audit" in player.running


def test_a_person_and_a_rule_may_both_put_a_task_off_and_it_waits_for_both() -> None:
    player = Player(a_host(width=8), rules=AFTER_CODE)
    player.open(*(a_task(f"c{n}") for n in range(3)), a_task("audit", kind="audit"), a_task("audit2", kind="audit"))
    player.play(ev.DeferAsked(player.at, "r", "audit"))
    assert player.cause("audit") == "deferred by a person"
    player.play(ev.ResumeAsked(player.at, "r", "audit"))
    assert player.cause("audit") == "after kind code has at most 1 left"
    player.play(ev.DeferAsked(player.at, "r", "audit"))
    player.end("c0", "c1")
    assert player.states(("audit", "audit2")) == ["deferred", "running"]
    player.play(ev.ResumeAsked(player.at, "r", "audit"))
    assert player.state("audit") == "running"


def test_held_tasks_can_be_cancelled_one_by_one_or_with_their_run() -> None:
    player = Player(a_host(width=8), rules=AFTER_CODE)
    player.open(*(a_task(f"c{n}") for n in range(3)), *(a_task(f"a{n}", kind="audit") for n in range(3)))
    player.play(ev.CancelAsked(player.at, "r", "a0"))
    assert player.states(("a0", "a1")) == ["cancelled", "deferred"]
    player.play(ev.CancelAsked(player.at, "r"))
    assert player.states(("a1", "a2")) == ["cancelled", "cancelled"]
