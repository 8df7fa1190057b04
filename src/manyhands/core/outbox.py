"""Results on their way to sinks: posted when a task ends, kept until each sink has them.

What is posted depends only on the ending of a task and the routes at that moment. So a journal restores the same
letters with the same numbers. Without a route for its app, a result is not delivered anywhere.
"""

from msgspec import Struct

from manyhands.core.state import Record
from manyhands.core.values.host import Route

#: The name of the sink that is a task's own `reply_to`.
REPLY_TO = "reply_to"


class Delivery(Struct, frozen=True, omit_defaults=True):
    """One result for one sink."""

    number: int
    app: str
    sink: str
    run: str
    task: str
    attempt: int  # the task's nth
    order: str  # letters with the same order are sent to a sink one after another
    posted_at: float
    state: str = ""  # the state of the task then; it may have been retried since
    step: str = ""  # the task that had the attempt, because a member of a family has none of its own
    why: str = ""  # why its family failed the member


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
        """The task has ended. Its record says how, or the record of the `step` that ran for it in its family."""
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
        """Send it again with its old number, so that a receiver that already has it can tell."""
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
