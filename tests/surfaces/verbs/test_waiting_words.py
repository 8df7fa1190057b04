"""Where only a person can continue, nobody is sent to start a dispatcher."""

from pathlib import Path

from helpers import Player, a_task
from manyhands.core.book import Book
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.question import Question, QuestionKind
from manyhands.surfaces.verbs.inbox_verbs import list_inbox
from manyhands.surfaces.verbs.task_verbs import explain_task

WAITS = Ending(EndingKind.DONE, asks=Question(QuestionKind.APPROVAL, "1 file, +1 −0", commit="c1"))


class Undispatched:
    """A view of a book that no dispatcher works on."""

    hosts = families = routes = ()
    directory = Path()
    is_dispatching = False
    now = 10.0

    def __init__(self, book: Book) -> None:
        self.book = self.book_if_any = book


def waiting(*more: str) -> Undispatched:
    """`a` waits for its approval, and `after` for `a`."""
    player = Player()
    player.open(a_task("a"), a_task("after", needs=("a",)))
    player.end("a", ending=WAITS)
    player.add(*(a_task(id) for id in more))
    return Undispatched(player.book)


def test_a_run_in_which_only_an_approval_waits_is_no_item_of_its_own() -> None:
    items = list_inbox(waiting()).items
    assert [(str(item.waits_for), item.name, item.holds) for item in items] == [("approval", "a", 2)]


def test_a_run_in_which_a_task_could_start_is_one() -> None:
    items = list_inbox(waiting("b")).items
    assert sorted((str(item.waits_for), item.name) for item in items) == [("approval", "a"), ("run", "r")]


def test_what_a_task_waits_for_comes_before_the_dispatcher_that_it_needs_later() -> None:
    view = waiting()
    why = explain_task(view, view.book.runs["r"].records["a"]).why
    assert why[0] == "waits for approval: 1 file, +1 −0"
    assert why[1].startswith("no dispatcher is running")
