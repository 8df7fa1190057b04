"""A review as Markdown, for a pull request or a chat."""

import re
import time

from manyhands.quantities import quantity
from manyhands.surfaces.review.review_types import Moment, OpenQuestion, PeriodReview, Review, RunOutcome
from manyhands.surfaces.review.spending import money
from manyhands.surfaces.review.task_notes import TaskNote
from manyhands.surfaces.review.task_tree import tree_lines

_TREE_LINES_MAX = 200


def as_markdown(told: Review | PeriodReview) -> str:
    if isinstance(told, Review):
        return "\n".join(_lines(told, "#")) + "\n"
    segments = [line for segment in told.segments for line in ("", *_lines(segment, "##"))]
    return "\n".join([f"# {title_of_period(told)}", *segments]) + "\n"


def title_of_period(period: PeriodReview) -> str:
    runs = quantity(period.total, "run")
    shown = f", the newest {len(period.segments):,} of them" if len(period.segments) < period.total else ""
    return f"{when(period.since)} to {when(period.until)}: {runs}{shown}"


def title_of(review: Review) -> str:
    return f"epic {review.epic} of run {review.run}" if review.epic else f"run {review.run}"


def _lines(review: Review, level: str) -> list[str]:
    goal, outcome = review.goal, review.outcome
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in goal.by_kind.items())
    bound = f", at most {goal.concurrency} at once" if goal.concurrency else ""
    lines = [
        _one_line(f"{level} {title_of(review)[:1].upper()}{title_of(review)[1:]}: {outcome.headline}"),
        "",
        f"{level}# Goal",
        *(_one_line(text) for text in (goal.about.title, goal.about.goal, goal.about.description) if text),
        f"{quantity(goal.tasks, 'task')} ({kinds}) from `{goal.source or 'the API'}`{bound},"
        f" opened {when(goal.opened_at)}.",
        "",
        f"{level}# Outcome",
        *outcome_lines(outcome),
        "",
        f"{level}# Next steps",
        *(f"- {step}" for step in review.next_steps),
        "",
        f"{level}# Key decisions{_shown(len(review.decisions), review.decisions_total)}",
        *(decision_line(moment) for moment in review.decisions),
        "",
        f"{level}# Open questions{_shown(len(review.questions), review.questions_total)}",
        *(line for question in review.questions for line in _question_lines(question)),
        *(["None."] if not review.questions else []),
    ]
    if review.notes:
        title = f"{level}# What the tasks noted{_shown(len(review.notes), review.notes_total)}"
        lines += ["", title, *(note_line(note) for note in review.notes)]
    tree = tree_lines(review.tree)
    if any(node.children for node in review.tree):
        more = len(tree) - _TREE_LINES_MAX
        lines += [
            "",
            f"{level}# The tasks",
            "```",
            *tree[:_TREE_LINES_MAX],
            *([f"… {more:,} more"] if more > 0 else []),
            "```",
        ]
    return lines


def outcome_lines(outcome: RunOutcome) -> list[str]:
    counts = ", ".join(f"{n:,} {state}" for state, n in outcome.counts.items())
    endings = ", ".join(f"{n:,} {ending.replace('_', ' ')}" for ending, n in outcome.endings.items())
    gain = f"; one at a time {duration(outcome.one_at_a_time_s)}" if outcome.took_s else ""
    lines = [
        f"- {counts} in {duration(outcome.took_s)}{gain}",
        f"- at most {outcome.peak} at once, {outcome.mean_in_flight:.1f} on average; attempts: {endings or 'none'}",
    ]
    if outcome.tokens_in or outcome.tokens_out:
        lines.append(f"- tokens: {outcome.tokens_in:,} in, {outcome.tokens_out:,} out")
    if outcome.cost is not None:
        lines.append(f"- cost: {money(outcome.cost)}")
    for host in outcome.hosts:
        width = f", width {host.width} at the end" if host.width is not None else ""
        cost = f", cost {money(host.cost)}" if host.cost is not None else ""
        done = f"{host.done:,} of {quantity(host.attempts, 'attempt')} done"
        lines.append(f"- {host.host}: {done}, at most {host.peak} at once{width}{cost}")
    return lines


def decision_line(moment: Moment) -> str:
    why = f" ({moment.why})" if moment.why else ""
    times = f" · {moment.times} times" if moment.times > 1 else ""
    return _one_line(f"- {duration(moment.after_s)} · {moment.what} · {moment.who}: {moment.text}{why}{times}")


def note_line(note: TaskNote) -> str:
    times = f" · {note.times} times" if note.times > 1 else ""
    return _one_line(f"- **{note.kind}** {note.text} ({note.task}{times})")


def _question_lines(question: OpenQuestion) -> list[str]:
    cost = (
        f" · {question.attempts} attempt{'s' * (question.attempts != 1)}, {question.cost}" if question.attempts else ""
    )
    lines = [_one_line(f"- **{question.what}** {question.task}: {question.why}{cost}")]
    if question.tail and question.what == "failed":
        longest = max((len(ticks) for ticks in re.findall("`+", question.tail)), default=0)
        fence = "`" * max(3, longest + 1)
        lines += [f"  {fence}", *(f"  {line}" for line in question.tail.splitlines()), f"  {fence}"]
    if question.log:
        lines.append(f"  `{question.log}`")
    return lines


def _one_line(text: str) -> str:
    """A text from a task on one line, without HTML that a Markdown viewer would show."""
    return " ".join(text.split()).replace("<", "&lt;")


def _shown(shown: int, total: int) -> str:
    return f" ({shown:,} of {total:,} shown)" if shown < total else ""


def when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
