"""Lessons of earlier runs reach the prompts of a run that asks for them: the most confirmed first, and bounded."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.commands import StartAttempt
from manyhands.core.lessons import CHARACTERS_MAX, LESSONS_MAX, lessons_of
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.about import About, RunAbout
from manyhands.core.values.ending import Ending, EndingKind, Note, NoteKind
from manyhands.core.values.task import Claims


def noted(*texts: str) -> Ending:
    return Ending(EndingKind.DONE, notes=tuple(Note(NoteKind.LESSON, text) for text in texts))


def after(said: dict[str, tuple[str, ...]]) -> Player:
    player = Player(a_host(width=2))
    player.open(*(a_task(id) for id in said))
    while player.running:
        for id in player.running:
            player.end(id, ending=noted(*said[id]))
    return player


def test_what_most_tasks_noted_comes_first_and_then_the_newest() -> None:
    player = after({"a": ("old",), "b": ("both",), "c": ("both", "new")})
    assert lessons_of(player.book.runs.values())[0] == "both"
    assert set(lessons_of(player.book.runs.values())) == {"both", "old", "new"}


def test_lessons_are_bounded_in_number_and_length() -> None:
    many = after({"a": tuple(f"lesson {n}" for n in range(50))})
    assert len(lessons_of(many.book.runs.values())) == LESSONS_MAX
    long = lessons_of(after({"a": tuple(f"{n}" * 900 for n in range(9))}).book.runs.values())
    assert len(long) >= 3
    assert sum(map(len, long)) <= CHARACTERS_MAX


def test_prompts_of_a_run_that_asks_for_them_have_them_and_others_do_not() -> None:
    player = after({"a": ("run codegen first",)})
    about = RunAbout("Types", epics={"e": About("API")}, lessons=lessons_of(player.book.runs.values()))
    player.play(ev.RunOpened(player.at, "told", about=about), ev.RunOpened(player.at, "plain"))
    for run in ("told", "plain"):
        player.play(ev.TasksSubmitted(player.at, run, (a_task(f"{run}-1", prompt="do it", claims=Claims()),)))
    prompts = {one.task.id: one.task.prompt for one in player.commands if isinstance(one, StartAttempt)}
    assert prompts["told-1"] == "do it\n\nLessons of earlier runs:\n- run codegen first"
    assert prompts["plain-1"] == "do it"
    assert player.book.runs["told"].records["told-1"].task.prompt == "do it", "the task itself stays as it is"
    again = Scheduler()
    assert snapshot.load(again, snapshot.save(player.scheduler))
    assert again.book.runs["told"].about == about
