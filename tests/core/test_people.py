"""Tasks that wait for a person: for an approval, an answer, or something that only a person can do."""

import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.commands import AnswerAttempt, StartAttempt
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.host import Host, Width
from manyhands.core.values.question import Answer, Guidance, Question, QuestionKind, Verdict
from manyhands.core.values.task import TaskState

LOST = Ending(EndingKind.LOST, "the dispatcher stopped while it ran")
FAILED = Ending(EndingKind.FAILED, "conflict in base.txt with what landed meanwhile")
WHICH = Question(QuestionKind.QUESTION, "which database?", ("one", "two"))


def waits(commit: str = "c1") -> Ending:
    return Ending(EndingKind.DONE, asks=Question(QuestionKind.APPROVAL, "1 file, +1 −0", commit=commit))


def asks(question: Question = WHICH) -> Ending:
    return Ending(EndingKind.FAILED, needs_person=True, asks=question)


def judged(player: Player, verdict: Verdict, commit: str = "c1", words: str = "", task: str = "a") -> None:
    player.play(ev.WorkJudged(player.at, "r", task, commit, verdict, words, "Ann"))


def answered(player: Player, words: str, question: str = WHICH.text) -> None:
    player.play(ev.QuestionAnswered(player.at, "r", "a", question, words, "Ann"))


def orders(player: Player, task: str = "a") -> list[StartAttempt]:
    return [one for one in player.commands if isinstance(one, StartAttempt) and one.task.id == task]


def test_work_that_waits_for_approval_holds_neither_its_slot_nor_its_claims() -> None:
    player = Player()
    player.open(a_task("a", claims=writes("f")), a_task("b", claims=writes("f")), a_task("after", needs=("a",)))
    assert player.running == ["a"]
    player.end("a", ending=waits())
    assert player.states(("a", "b", "after")) == ["needs_person", "running", "blocked"]
    assert player.cause("a") == "waits for approval: 1 file, +1 −0"


def test_approved_work_gets_an_attempt_that_lands_it_before_anything_else() -> None:
    player = Player()
    player.open(a_task("a"), *(a_task(f"t{n}") for n in range(3)))
    player.end("a", ending=waits())
    judged(player, Verdict.APPROVED)
    player.end(*player.running)
    assert player.running == ["a"], "it only has to land"
    assert orders(player)[-1].guidance == Guidance(approved="c1")
    player.end("a")
    assert player.state("a") is TaskState.DONE


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_on_work_that_no_longer_waits_changes_nothing(verdict: Verdict) -> None:
    player = Player()
    player.open(a_task("a"))
    judged(player, verdict)
    assert player.running == ["a"]
    player.end("a", ending=waits("c2"))
    judged(player, verdict, "c1")
    assert player.state("a") is TaskState.NEEDS_PERSON
    judged(player, Verdict.REJECTED, "c2")
    judged(player, Verdict.APPROVED, "c2")
    assert player.state("a") is TaskState.CANCELLED


def test_each_attempt_keeps_what_was_decided_about_its_work() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=waits())
    judged(player, Verdict.SENT_BACK, words="add a test")
    player.end("a", ending=waits("c2"))
    judged(player, Verdict.APPROVED, "c1")
    judged(player, Verdict.APPROVED, "c2")
    kept = [tried.judged for tried in player.book.runs["r"].records["a"].history or ()]
    assert [one and (one.verdict, one.by, one.words) for one in kept] == [
        (Verdict.SENT_BACK, "Ann", "add a test"),
        (Verdict.APPROVED, "Ann", ""),
        None,
    ]


def test_an_attempt_that_was_lost_while_it_landed_lands_again() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=waits())
    judged(player, Verdict.APPROVED)
    player.end("a", ending=LOST)
    assert [one.guidance for one in orders(player)] == [None, Guidance(approved="c1"), Guidance(approved="c1")]


def test_what_cannot_land_is_done_again_and_wants_a_new_approval() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=waits())
    judged(player, Verdict.APPROVED)
    player.end("a", ending=FAILED)
    player.wait(60)
    assert (orders(player)[-1].guidance, orders(player)[-1].last) == (None, FAILED)
    player.end("a", ending=waits("c2"))
    assert player.state("a") is TaskState.NEEDS_PERSON


def test_work_that_is_sent_back_is_continued_with_the_words_until_it_is_done() -> None:
    player = Player()
    player.open(a_task("a", attempts=1))
    player.end("a", ending=waits())
    judged(player, Verdict.SENT_BACK, words="add a test")
    sent_back = Guidance(continues="c1", words="add a test")
    assert orders(player)[-1].guidance == sent_back
    player.end("a", ending=LOST)
    assert orders(player)[-1].guidance == sent_back
    player.end("a", ending=waits("c2"))
    judged(player, Verdict.APPROVED, "c2")
    assert orders(player)[-1].guidance == Guidance(approved="c2")


def test_rejected_work_is_cancelled_and_what_needs_it_is_skipped() -> None:
    player = Player()
    player.open(a_task("a"), a_task("after", needs=("a",)))
    player.end("a", ending=waits())
    judged(player, Verdict.REJECTED, words="not wanted")
    assert player.states(("a", "after")) == ["cancelled", "skipped"]
    assert player.cause("a") == "rejected by Ann: not wanted"
    player.play(ev.RetryAsked(player.at, "r", "a"))
    assert orders(player)[-1].guidance is None, "a retry begins from nothing"


def test_a_question_says_nothing_about_how_hard_its_kind_is() -> None:
    player = Player(Host("local", width=Width(1, 8, 8)))
    player.open(*(a_task(f"t{n}", kind="shell") for n in range(12)))
    while player.running:
        player.end(player.running[0], ending=asks())
    lane, why = player.book.hosts["local"].lane_bound("shell", 8)
    assert lane in (None, 8), why


@pytest.mark.parametrize(("ending", "word"), [(asks(), "asks"), (FAILED, "failed"), (waits(), "done"), (LOST, "lost")])
def test_an_attempt_that_ended_with_a_question_is_not_told_as_failed(ending: Ending, word: str) -> None:
    assert ending.word == word


def test_an_attempt_that_ends_with_a_question_is_followed_by_one_that_knows_the_answer() -> None:
    player = Player()
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=asks(Question(QuestionKind.QUESTION, "which database?", commit="c1")))
    assert (player.state("a"), player.running) == (TaskState.NEEDS_PERSON, ["b"])
    answered(player, "wrong", "another question?")
    assert player.state("a") is TaskState.NEEDS_PERSON
    player.end("b")
    answered(player, "two")
    assert orders(player)[-1].guidance == Guidance(continues="c1", answers=(Answer("which database?", "two"),))


def test_an_attempt_that_waits_for_an_answer_runs_on_with_it() -> None:
    player = Player()
    player.open(a_task("a"))
    player.play(ev.QuestionAsked(player.at, player.attempt_of("a"), WHICH))
    record = player.book.runs["r"].records["a"]
    assert (record.state, record.question) == (TaskState.RUNNING, WHICH)
    answered(player, "one")
    answered(player, "two")
    assert [one for one in player.commands if isinstance(one, AnswerAttempt)] == [AnswerAttempt(1, "one")]
    player.end("a")
    assert (record.state, record.guidance) == (TaskState.DONE, None)


def test_a_question_of_a_lost_attempt_stays_and_is_not_asked_again() -> None:
    player = Player()
    player.open(a_task("a"))
    player.play(ev.QuestionAsked(player.at, 1, WHICH))
    player.end("a", ending=LOST)
    record = player.book.runs["r"].records["a"]
    assert (record.state, record.question) == (TaskState.NEEDS_PERSON, WHICH)
    answered(player, "one")
    assert player.running == ["a"]
    player.play(ev.QuestionAsked(player.at, 2, WHICH))
    assert record.question is None
    assert player.commands[-1] == AnswerAttempt(2, "one")


def test_a_task_that_asks_is_not_resumed_or_put_off_but_may_be_cancelled() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=waits())
    player.play(ev.ResumeAsked(player.at, "r", "a"), ev.DeferAsked(player.at, "r", "a"))
    assert player.state("a") is TaskState.NEEDS_PERSON
    player.play(ev.CancelAsked(player.at, "r", "a"))
    assert player.state("a") is TaskState.CANCELLED


def test_a_task_that_needs_a_person_for_something_else_is_resumed_or_put_off() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=Ending(EndingKind.FAILED, "log in first", needs_person=True))
    assert (player.state("a"), player.cause("a")) == (TaskState.NEEDS_PERSON, "needs a person: log in first")
    player.play(ev.DeferAsked(player.at, "r", "a"))
    assert player.state("a") is TaskState.DEFERRED
    player.play(ev.ResumeAsked(player.at, "r", "a"))
    assert player.running == ["a"]


def test_a_change_of_the_plan_leaves_waiting_work_where_it_is() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=waits())
    player.play(ev.TaskEdited(player.at, "r", a_task("a", prompt="something else")))
    assert player.state("a") is TaskState.NEEDS_PERSON
    judged(player, Verdict.APPROVED)
    assert player.running == ["a"]


def test_what_waits_is_the_same_after_a_replay_and_from_a_snapshot() -> None:
    player = Player(a_host(width=4))
    player.open(*(a_task(id) for id in "abc"))
    player.end("a", ending=waits())
    player.end("b", ending=asks())
    player.play(ev.QuestionAsked(player.at, player.attempt_of("c"), WHICH))
    judged(player, Verdict.SENT_BACK, words="more")
    replayed, loaded = Scheduler(), Scheduler()
    replayed.replay(player.journal)
    assert snapshot.save(replayed) == snapshot.save(player.scheduler)
    assert snapshot.load(loaded, snapshot.save(player.scheduler))
    assert snapshot.save(loaded) == snapshot.save(player.scheduler)
    assert {id: record.state for id, record in loaded.book.runs["r"].records.items()} == {
        "a": TaskState.RUNNING,
        "b": TaskState.NEEDS_PERSON,
        "c": TaskState.RUNNING,
    }


def test_a_snapshot_of_an_older_version_had_these_tasks_deferred() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=Ending(EndingKind.FAILED, "log in first", needs_person=True))
    saved = snapshot.save(player.scheduler)
    loaded = Scheduler()
    assert snapshot.load(loaded, saved.replace(b"\xacneeds_person\xa5since", b"\xa8deferred\xa5since"))
    assert saved != saved.replace(b"\xacneeds_person\xa5since", b"\xa8deferred\xa5since")
    assert loaded.book.runs["r"].records["a"].state is TaskState.NEEDS_PERSON


def test_a_run_rests_while_all_that_is_left_waits_for_a_person() -> None:
    player = Player()
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=waits())
    player.end("b", ending=DONE)
    assert player.book.runs["r"].settled
    judged(player, Verdict.APPROVED)
    assert not player.book.runs["r"].settled
