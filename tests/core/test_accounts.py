"""An account that is closed closes all of its hosts, costs no attempt, and opens again by itself."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.explain import explain
from manyhands.core.values.ending import Ending, EndingKind

CLOSED = Ending(EndingKind.OVERLOADED, "closed until 14:57 (five-hour limit)", quota=True, retry_after_s=600.0)
NO_KEY = Ending(EndingKind.OVERLOADED, "cannot authenticate: bad key", needs_person=True)


def why(player: Player, task: str) -> list[str]:
    return explain(player.book, player.book.runs["r"].records[task], player.at)


def test_all_hosts_of_the_account_pause_until_it_opens_and_nothing_doomed_starts() -> None:
    both = [a_host(name, width=2, account="work") for name in ("opus", "sonnet")]
    player = Player(*both)
    player.open(*(a_task(f"t{n}", attempts=1) for n in range(12)))
    assert len(player.running) == 4
    player.end(player.running[0], ending=CLOSED)
    assert len(player.running) == 3, "nothing new begins"
    assert why(player, "t11") == [
        "opus is closed until 14:57 (five-hour limit); 9 tasks wait",
        "sonnet is closed until 14:57 (five-hour limit); 9 tasks wait",
    ]
    player.end(*player.running, ending=CLOSED)
    started = len(player.started)
    player.wait(598.0)
    assert len(player.started) == started
    player.wait(3.0)
    player.run_to_end()
    counts = player.book.runs["r"].counts
    assert counts["done"] == 12  # type: ignore[index]
    assert all(record.tries == 0 for record in player.book.runs["r"].records.values())


def test_a_host_of_another_account_takes_over_at_once() -> None:
    player = Player(a_host("claude", width=1, account="a"), a_host("codex", width=1, account="b", fallback=True))
    player.open(a_task("t"))
    player.end("t", ending=CLOSED)
    assert player.running == ["t"]
    assert player.book.hosts["codex"].running


def test_a_later_word_does_not_open_it_sooner() -> None:
    player = Player(a_host(width=2, account="a"))
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=CLOSED)
    until = player.book.hosts["local"].paused_until
    player.end("b", ending=Ending(EndingKind.OVERLOADED, "closed (usage limit)", quota=True))
    assert player.book.hosts["local"].paused_until == until


def test_a_moment_that_is_past_already_is_not_tried_without_end() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"))
    past = Ending(EndingKind.OVERLOADED, "closed", quota=True, retry_after_s=0.0)
    for _ in range(3000):
        if player.at > 600:
            break
        if player.running:
            player.end("a", ending=past)
        player.wait(1.0)
    assert player.started.count("a") < 20


def test_a_host_that_cannot_authenticate_pauses_instead_of_failing_its_backlog() -> None:
    player = Player(a_host(width=4))
    player.open(*(a_task(f"t{n}", attempts=1) for n in range(200)))
    player.end(*player.running, ending=NO_KEY)
    assert player.book.runs["r"].counts["failed"] == 0  # type: ignore[index]
    assert player.running == []
    assert "it needs a person (cannot authenticate: bad key); next try in 60 s" in why(player, "t199")[0]
    paused = player.book.hosts["local"].paused
    assert paused == "it needs a person (cannot authenticate: bad key)", "no time that soon is wrong"
    player.wait(61.0)
    assert len(player.running) == 1, "one attempt finds out whether a person was there"
    player.end(*player.running)
    assert len(player.running) == 4


def test_a_person_who_resumes_the_host_need_not_wait() -> None:
    player = Player(a_host(width=4))
    player.open(*(a_task(f"t{n}") for n in range(8)))
    player.end(*player.running, ending=NO_KEY)
    player.play(ev.HostResumed(player.at, "local"))
    assert len(player.running) == 1


def test_a_task_that_needs_a_person_waits_for_one_and_others_go_on() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a", attempts=1), a_task("b"))
    player.end("a", ending=Ending(EndingKind.FAILED, "was not allowed: Bash", needs_person=True))
    assert player.state("a") == "needs_person"
    assert why(player, "a") == ["needs a person: was not allowed: Bash"]
    player.end("b")
    player.play(ev.ResumeAsked(player.at, "r", "a"))
    assert player.running == ["a"]
    player.end("a")
    assert player.state("a") == "done"


def test_a_run_that_has_cost_what_it_may_starts_nothing_more_and_continues_with_a_new_budget() -> None:
    player = Player(a_host(width=1))
    player.open(*(a_task(f"t{n}") for n in range(5)), max_cost=5.0)
    dear = Ending(EndingKind.DONE, cost=3.0)
    player.end("t0", ending=dear)
    player.end("t1", ending=dear)
    assert player.running == []
    assert why(player, "t2")[0] == "run r has cost 6.00 of at most 5.00"
    assert player.book.runs["r"].settled
    player.play(ev.RunResumed(player.at, "r", max_cost=20.0))
    player.run_to_end()
    assert player.book.runs["r"].counts["done"] == 5  # type: ignore[index]
