"""One line for each thing that happened, for people and for machines: a time, `action=`, ids, and why.

A line is one line whatever is in it: control characters are escaped, every value is cut to a bounded length, and
secrets are left out.
"""

import datetime
import sys
from collections.abc import Callable, Iterable, Sequence

from manyhands.core import events as ev
from manyhands.core.book import Book
from manyhands.core.state import Running
from manyhands.core.values.task import Task
from manyhands.engine.redaction import Secrets
from manyhands.engine.run_opening import told_source

#: Longer texts are in the log of the attempt (`manyhands task log`).
VALUE_CHARACTERS_MAX = 300

#: Name and value, in the order of the line. Values of None are left out.
Fields = dict[str, object]


class EventLines:
    """Turns the events of a batch that is on disk into lines. Keeps only the names of running attempts."""

    def __init__(self, book: Book, secrets: Secrets) -> None:
        self._book = book
        self._secrets = secrets
        self._in_flight = {attempt: (str(running), running) for attempt, running in book.running.items()}
        for run in book.runs.values():
            self._learn(record.task for record in run.records.values())

    def lines(self, batch: Sequence[ev.AnyEvent]) -> list[str]:
        lines: list[str] = []
        for event in batch:
            fields = self._fields(event)
            if fields:
                lines.append(line(event.at, fields, self._secrets.redact))
        return lines

    def lost(self, found: Iterable[Running]) -> list[str]:
        """Lines for attempts that ended before the log was opened."""
        lines: list[str] = []
        for running in found:
            tried, history = running.tried, running.record.history or []
            if tried.ending is not None and tried.ended_at is not None:
                name = f"{running.record.task.id}#{history.index(tried) + 1}@{running.host.name}"
                fields: Fields = {"action": "ended", **_who(name, running), "ending": tried.ending.kind}
                fields |= {"took_s": round(tried.ended_at - tried.started_at, 3), "detail": tried.ending.detail}
                lines.append(line(tried.ended_at, fields, self._secrets.redact))
        return lines

    def _fields(self, event: ev.AnyEvent) -> Fields | None:
        match event:
            case ev.AttemptStarted():
                return self._started(event)
            case ev.AttemptEnded():
                return self._ended(event)
            case ev.StopDecided():
                known = self._in_flight.get(event.attempt)
                who = _who(*known) if known else {}
                return {"action": "stopping", **who, "why": event.why, "detail": event.detail or None}
            case ev.RetryDecided():
                wait_s = max(0.0, event.until - event.at)
                return {"action": "retry", "task": event.task, "run": event.run, "in_s": round(wait_s, 3)}
            case ev.TasksSubmitted():
                self._learn(event.tasks)
                task = event.tasks[0].id if len(event.tasks) == 1 else None
                return {"action": "submitted", "task": task, "run": event.run, "tasks": len(event.tasks)}
            case ev.TaskEdited():
                self._learn((event.task,))
                return {"action": "edited", "task": event.task.id, "run": event.run}
            case ev.CancelAsked():
                return {"action": "cancelled", "task": event.task or None, "run": event.run, "why": event.why or None}
            case ev.ChangeAsked():
                values = {name: _change(value) for name, value in event.change.values().items()}
                return {"action": "changed", "task": event.task, "run": event.run, **values}
            case ev.RetryAsked() | ev.DeferAsked() | ev.ResumeAsked():
                return {"action": _ASKED[type(event)], "task": event.task, "run": event.run}
            case ev.QuestionAsked():
                known = self._in_flight.get(event.attempt)
                return {"action": "asked", **(_who(*known) if known else {}), "question": event.question.text}
            case ev.QuestionAnswered():
                return {"action": "answered", "task": event.task, "run": event.run, "by": event.by or None}
            case ev.WorkJudged():
                said: Fields = {"action": event.verdict, "task": event.task, "run": event.run, "by": event.by or None}
                return said | {"commit": event.commit, "words": event.words or None}
            case _:
                return _of_run_or_host(event)

    def _started(self, event: ev.AttemptStarted) -> Fields:
        running = self._book.running[event.attempt]
        self._in_flight[event.attempt] = str(running), running
        return {"action": "started", **_who(*self._in_flight[event.attempt])}

    def _ended(self, event: ev.AttemptEnded) -> Fields | None:
        known = self._in_flight.pop(event.attempt, None)
        if known is None:
            return None  # it was reported twice
        tried = known[1].tried
        ending = tried.ending or event.ending
        took_s = (tried.ended_at or event.at) - tried.started_at
        return {
            "action": "ended",
            **_who(*known),
            "ending": ending.kind,
            "took_s": round(took_s, 3),
            "exit_code": ending.exit_code,
            "tokens_in": ending.tokens_in or None,
            "tokens_out": ending.tokens_out or None,
            "cost": ending.cost,
            "detail": ending.detail or None,
        }

    def _learn(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            if task.env:
                self._secrets.learn(task.env)


_ASKED: dict[type[ev.Event], str] = {
    ev.RetryAsked: "retry_asked",
    ev.DeferAsked: "deferred",
    ev.ResumeAsked: "undeferred",
}
_OF_RUN: dict[type[ev.Event], str] = {
    ev.RunResumed: "resumed",
    ev.RunDrained: "draining",
    ev.RunStopped: "stopped",
    ev.RunNoted: "noted",
}


def _change(value: object) -> str:
    return (",".join(map(str, value)) if isinstance(value, tuple) else str(value)) or "none"


def _who(name: str, running: Running) -> Fields:
    return {"task": name, "run": running.record.run, "kind": running.record.task.kind or None}


def _of_run_or_host(event: ev.AnyEvent) -> Fields | None:
    match event:
        case ev.RunOpened():
            return {"action": "opened", "run": event.run, "source": told_source(event.purpose, event.source) or None}
        case ev.RunResumed() | ev.RunDrained() | ev.RunStopped() | ev.RunNoted():
            return {"action": _OF_RUN[type(event)], "run": event.run}
        case ev.WidthMoved():
            what: Fields = {"action": "width", "host": event.host, "kind": event.kind or None}
            return what | {"was": event.was, "width": event.width, "why": event.reason}
        case ev.WorkersMoved():
            moved: Fields = {"action": "workers", "host": event.host, "was": event.was, "workers": event.workers}
            return moved | {"why": event.reason}
        case ev.FamilyMoved():
            who: Fields = {"action": "family", "family": event.family, "run": event.run, "round": event.round}
            return who | {"phase": event.phase, "why": event.reason}
        case ev.WidthSet():
            return {"action": "width_set", "host": event.host, "width": event.width or "free"}
        case ev.HostPaused():
            until = None if event.until is None else stamp(event.until)
            return {"action": "paused", "host": event.host, "until": until, "why": event.why or None}
        case ev.HostResumed():
            return {"action": "unpaused", "host": event.host}
        case ev.HostRead() if event.trouble is not None:
            return {"action": "probe", "host": event.host, "why": event.trouble or "it answers again"}
        case ev.HostsConfigured():
            return {"action": "hosts", "hosts": ",".join(host.name for host in event.hosts)}
        case ev.DeliveryGivenUp():
            return {"action": "given_up", "letter": event.delivery, "tries": event.tries or None, "why": event.error}
        case ev.ResendAsked():
            return {"action": "resend_asked", "letter": event.delivery or None, "app": event.app or None}
        case ev.BudgetReached():
            used: Fields = {"action": "budget_used", "budget": event.budget, "of": event.key or None}
            return used | {"why": event.why}
        case ev.BudgetRaised():
            return {"action": "budget_raised", "budget": event.budget, "of": event.key or None}
        case ev.ScheduleKept():
            return {"action": "scheduled", "source": event.source, "until": stamp(event.until)}
        case ev.MemoryForgotten():
            return {"action": "forgotten", "host": event.host or None, "kind": event.kind or None}
        case _:
            return None


def line(at: float, fields: Fields, redact: Callable[[str], str]) -> str:
    """`2026-11-15T23:20:01Z action=started task=lint-7#2@gpu-1 run=nightly-1 kind=code`"""
    told = [f"{name}={_value(redact(str(value)))}" for name, value in fields.items() if value is not None]
    return " ".join((stamp(at), *told))


def stamp(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _value(text: str) -> str:
    cut = text[:VALUE_CHARACTERS_MAX]
    if cut == text and text and text.isprintable() and not any(character in ' "\\=' for character in text):
        return text
    escaped = [_escaped(character) for character in cut]
    while sum(map(len, escaped)) > VALUE_CHARACTERS_MAX:
        escaped.pop()
    return '"' + "".join(escaped) + ("…" if len(escaped) < len(text) else "") + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == " " or character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


class Log:
    """Writes what a dispatcher records to stderr, a batch at a time, in the dispatcher's loop."""

    def __init__(self, book: Book, secrets: Secrets, write: Callable[[str], object] | None = None) -> None:
        self._lines = EventLines(book, secrets)
        self._secrets = secrets
        self._write = write or _to_stderr

    def recorded(self, batch: Sequence[ev.AnyEvent]) -> None:
        self._write_all(self._lines.lines(batch))

    def lost(self, found: Iterable[Running]) -> None:
        self._write_all(self._lines.lost(found))

    def _write_all(self, lines: Sequence[str]) -> None:
        if lines:
            self._write("\n".join(lines) + "\n")

    def say(self, at: float, action: str, **fields: object) -> None:
        """Log what is not an event: a file that cannot be read, an address that is served."""
        self._write(line(at, {"action": action, **fields}, self._secrets.redact) + "\n")


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
