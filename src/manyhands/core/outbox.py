"""Results that are to leave: posted when a task ends, kept until each sink has them.

What is posted follows from a task's ending and the routes of that moment, so a journal brings back the same letters
under the same numbers. Off by default: without a route for its app a result goes nowhere.
"""

from msgspec import Struct

from manyhands.core.state import Record
from manyhands.core.values.host import Route

#: A task's own `reply_to` is a sink too; this is what it is called.
REPLY_TO = "reply_to"


class Delivery(Struct, frozen=True, omit_defaults=True):
    """One result for one sink."""

    number: int
    app: str
    sink: str
    run: str
    task: str
    attempt: int  # the task's nth
    order: str  # those of the same order at the same sink go one after another
    posted_at: float
    state: str = ""  # what the task had become: it may have been given another go since
    step: str = ""  # the task whose attempt it was: a member of a family has none of its own
    why: str = ""  # what the family says of that member


class DeadLetter(Struct, frozen=True, omit_defaults=True):
    delivery: Delivery
    error: str
    tries: int = 0


class Outbox(Struct, omit_defaults=True):
    routes: dict[str, Route] = {}
    waiting: dict[int, Delivery] = {}
    dead: dict[int, DeadLetter] = {}
    last: int = 0

    def post(self, record: Record, step: Record | None = None) -> None:
        """The task has ended, as its record says; if that was done by a step of its family, as the step's says."""
        task = record.task
        route = self.routes.get(task.app) if task.app else None
        if route is None or record.state not in route.endings:
            return
        tried = record if step is None else step
        sinks = route.sinks
        if task.reply_to and is_allowed(route, task.reply_to):
            sinks = (*sinks, REPLY_TO)
        for sink in sinks:
            self.last += 1
            order = _order(route, record)
            self.waiting[self.last] = Delivery(
                self.last,
                task.app,
                sink,
                record.run,
                task.id,
                len(tried.history or ()),
                order,
                record.since,
                str(record.state),
                "" if step is None else step.task.id,
                "" if step is None else record.cause.why,
            )

    def has_letters_of(self, run: str) -> bool:
        letters = (*self.waiting.values(), *(letter.delivery for letter in self.dead.values()))
        return any(delivery.run == run for delivery in letters)

    def delivered(self, number: int) -> None:
        self.waiting.pop(number, None)

    def given_up(self, number: int, error: str, tries: int) -> None:
        delivery = self.waiting.pop(number, None)
        if delivery is not None:
            self.dead[number] = DeadLetter(delivery, error, tries)

    def resend(self, number: int, app: str) -> None:
        """Under its old number, so that whoever has it already knows it again."""
        wanted = [number] if number else [one for one, letter in self.dead.items() if app in ("", letter.delivery.app)]
        for one in wanted:
            letter = self.dead.pop(one, None)
            if letter is not None:
                self.waiting[one] = letter.delivery


def _order(route: Route, record: Record) -> str:
    task = record.task
    match route.order:
        case "app":
            return task.app
        case "run":
            return record.run
        case "parent":
            return f"{record.run}/{task.parent or task.id}"
        case _:
            return f"{record.run}/{task.id}"


def is_allowed(route: Route, reply_to: str) -> bool:
    climbs = ".." in reply_to.replace("%2e", ".").replace("%2E", ".")  # out of the path that is allowed
    return not climbs and any(reply_to.startswith(prefix) for prefix in route.reply_to)
