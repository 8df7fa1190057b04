"""The decisions in a run, from its journal, each with its reason."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from manyhands.core import events as ev
from manyhands.core.values.ending import EndingKind
from manyhands.surfaces.review.review_types import Moment


class Moments:
    """Gets every event in order. Widths and pauses concern every run that is open at the time."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._opened_at: float | None = None
        self._began: dict[str, float] = {}  # host → when it began, last
        self._task_of: dict[int, str] = {}
        self._last_ending: dict[str, str] = {}
        self.kept: list[Moment] = []

    def follow(self, journal: Iterable[ev.AnyEvent]) -> Iterator[ev.AnyEvent]:
        """Passes the events on and notes them."""
        for event in journal:
            self._take(event)
            yield event

    def _take(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.RunOpened(run=self._run):
                self._opened_at = event.at
            case ev.AttemptStarted(run=self._run):
                self._task_of[event.attempt] = event.task
            case ev.AttemptEnded() if event.attempt in self._task_of:
                detail = event.ending.detail or event.ending.word
                self._last_ending[self._task_of.pop(event.attempt)] = detail
            case ev.StopDecided() if event.attempt in self._task_of and _is_told(event.why):
                self._note(event.at, str(event.why), self._task_of[event.attempt], "stopped", event.detail)
            case _ if getattr(event, "run", None) == self._run:
                self._take_of_run(event)
            case _ if self._opened_at is not None:
                self._take_of_host(event)

    def _take_of_run(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.RetryDecided():
                why = self._last_ending.get(event.task, "")
                self._note(event.at, "retry", event.task, f"again in {max(0.0, event.until - event.at):.1f} s", why)
            case ev.FamilyMoved():
                self._note(event.at, "family", event.family, f"round {event.round}: {event.phase}", event.reason)
            case ev.CancelAsked():
                text = "cancelled" if event.task else "the whole run is cancelled"
                self._note(event.at, "cancelled", event.task or self._run, text, event.why or "a person asked for it")
            case ev.DeferAsked():
                self._note(event.at, "deferred", event.task, "deferred", "a person asked for it")
            case ev.ResumeAsked():
                self._note(event.at, "resumed", event.task, "resumed", "a person asked for it")
            case ev.ChangeAsked():
                fields = ", ".join(event.change.values())
                self._note(event.at, "edited", event.task, f"{fields} changed", "a person asked for it")
            case ev.RetryAsked():
                why = "it was done, and its plan has changed" if event.again else "a person asked for it"
                self._note(event.at, "retried", event.task, "gets a fresh set of attempts", why)
            case ev.WorkJudged():
                self._note(event.at, "judged", event.task, str(event.verdict).replace("_", " "), _said(event))
            case ev.QuestionAnswered():
                self._note(event.at, "answered", event.task, event.question, _said(event))
            case ev.TaskEdited():
                self._note(event.at, "edited", event.task.id, "changed in its plan or backlog", "")
            case ev.RunResumed():
                self._note(
                    event.at,
                    "resumed",
                    self._run,
                    "the run continues",
                    "it had been stopped, left unfinished or changed",
                )
            case ev.RunDrained() | ev.RunStopped():
                self._note(event.at, "stopped", self._run, "the run starts nothing more", "")
            case _:
                pass

    def _take_of_host(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.WidthMoved(was=0):
                self._began[event.host] = event.at  # a run that continues has this once more, and nobody decided it
            case ev.WidthMoved() if self._began.get(event.host) == event.at:
                pass  # a lane begins with its host
            case ev.WidthMoved():
                who = f"{event.kind} on {event.host}" if event.kind else event.host
                self._note(event.at, "width", who, f"{event.was} → {event.width}", event.reason)
            case ev.WorkersMoved():
                self._note(event.at, "workers", event.host, f"{event.was} → {event.workers}", event.reason)
            case ev.BudgetReached():
                self._note(event.at, "budget", event.budget, "used up", event.why)
            case ev.BudgetRaised():
                self._note(event.at, "budget", event.budget, "may be used once more", "a person asked for it")
            case ev.WidthSet():
                text = f"pinned to {event.width}" if event.width is not None else "freed"
                self._note(event.at, "width", event.host, text, "a person asked for it")
            case ev.HostPaused():
                self._note(event.at, "paused", event.host, "takes nothing", event.why or "a person asked for it")
            case ev.HostResumed():
                self._note(event.at, "unpaused", event.host, "takes tasks again", "a person asked for it")
            case _:
                pass

    def _note(self, at: float, what: str, who: str, text: str, why: str) -> None:
        after_s = at - (self._opened_at if self._opened_at is not None else at)
        self.kept.append(Moment(at, after_s, what, who, text, why))


def told_once(moments: Iterable[Moment], until: float | None) -> list[Moment]:
    """The decisions up to the end of the run. One that repeats is listed once, with a count."""
    kept: dict[tuple[str, str, str], Moment] = {}
    found: list[tuple[str, str, str]] = []
    times: dict[tuple[str, str, str], int] = {}
    for number, moment in enumerate(moments):
        if until is not None and moment.at > until:
            break
        # Each move of a width counts; retries of one task for one reason are one thing.
        key = (moment.what, moment.who, moment.why if moment.what == "retry" else f"{number}")
        if key not in kept:
            kept[key] = moment
            found.append(key)
        times[key] = times.get(key, 0) + 1
    return [_times(kept[key], times[key]) for key in found]


def _said(event: ev.WorkJudged | ev.QuestionAnswered) -> str:
    who = event.by or "a person"
    return f"{who}: {event.words}" if event.words else who


def _times(moment: Moment, times: int) -> Moment:
    if times == 1:
        return moment
    return Moment(moment.at, moment.after_s, moment.what, moment.who, moment.text, moment.why, times)


def _is_told(why: EndingKind) -> bool:
    """Is it worth a moment that an attempt was stopped for this? A cancel is told with the wish for it."""
    match why:
        case EndingKind.CANCELLED:
            return False
        case EndingKind.TIMED_OUT | EndingKind.PREEMPTED:
            return True
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.LOST:
            return True  # nobody stops an attempt for these
        case _:
            assert_never(why)
