"""A review as one HTML page that needs nothing else. It has no script, so it can be sent by mail."""

import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from msgspec.structs import astuple

from manyhands.quantities import quantity
from manyhands.surfaces.review.review_markdown import duration, title_of, title_of_period, when
from manyhands.surfaces.review.review_types import Moment, OpenQuestion, PeriodReview, Review, RunOutcome, TaskTreeNode
from manyhands.surfaces.review.spending import money, spending
from manyhands.surfaces.review.task_notes import TaskNote
from manyhands.surfaces.review.task_tree import walk

_TREE_NODES_MAX = 2000
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_page(told: Review | PeriodReview) -> str:
    if isinstance(told, Review):
        return _page(title_of(told), _parts(told))
    title = title_of_period(told)
    return _page(title, f"<h1>{escape(title)}</h1>" + "".join(_parts(segment) for segment in told.segments))


def _parts(review: Review) -> str:
    goal, outcome = review.goal, review.outcome
    kinds = " · ".join(f"{n:,} {escape(kind)}" for kind, n in goal.by_kind.items())
    bound = f" · at most {goal.concurrency} at once" if goal.concurrency else ""
    parts = [
        f"<header><h1>{escape(title_of(review) if review.epic else review.run)}</h1>",
        f"<p class=headline data-good={_is_good(outcome)}>{escape(outcome.headline)}</p></header>",
        _section(
            "Goal",
            "".join(f"<p>{escape(text)}</p>" for text in astuple(goal.about) if text)
            + f"<p>{quantity(goal.tasks, 'task')} from <code>{escape(goal.source or 'the API')}</code></p>"
            f"<p class=quiet>{kinds}{bound} · opened {when(goal.opened_at)}</p>",
        ),
        _section("Outcome", _outcome(outcome)),
        _section("Next steps", _list(_with_code(step) for step in review.next_steps)),
        _section(_titled("Key decisions", len(review.decisions), review.decisions_total), _decisions(review.decisions)),
        _section(
            _titled("Open questions", len(review.questions), review.questions_total), _questions(review.questions)
        ),
    ]
    if review.notes:
        title = _titled("What the tasks noted", len(review.notes), review.notes_total)
        parts.append(_section(title, _list(_note(note) for note in review.notes)))
    if any(node.children for node in review.tree):
        parts.append(_section("The tasks", _tree(review.tree)))
    return "".join(parts)


def _page(title: str, body: str) -> str:
    head = (
        f'<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)} · review</title><style>{_style()}</style>"
    )
    return f"{head}<main><p class=brand>manyhands</p>{body}</main></html>\n"


def _note(note: TaskNote) -> str:
    times = f" · {note.times} times" if note.times > 1 else ""
    return f"<b>{note.kind}</b> {escape(note.text)} <span class=quiet>{escape(note.task)}{times}</span>"


def _is_good(outcome: RunOutcome) -> str:
    return "yes" if outcome.is_all_done else "no"


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>"


def _titled(title: str, shown: int, total: int) -> str:
    return f"{title} <span class=quiet>{shown:,} of {total:,} shown</span>" if shown < total else title


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _with_code(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _outcome(outcome: RunOutcome) -> str:
    total = sum(outcome.counts.values()) or 1
    bar = "".join(
        f'<span data-state={state} style="flex-grow:{n / total:.6f}" title="{n:,} {state}"></span>'
        for state, n in outcome.counts.items()
    )
    figures = {
        "took": duration(outcome.took_s),
        "one at a time": duration(outcome.one_at_a_time_s),
        "at once, at most": str(outcome.peak),
        "at once, on average": f"{outcome.mean_in_flight:.1f}",
        "attempts": " · ".join(f"{n:,} {ending.replace('_', ' ')}" for ending, n in outcome.endings.items()) or "none",
    }
    if outcome.tokens_in or outcome.tokens_out:
        figures["tokens"] = f"{outcome.tokens_in:,} in · {outcome.tokens_out:,} out"
    if outcome.cost is not None:
        figures["cost"] = money(outcome.cost)
    boxes = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items())
    counts = " · ".join(f"{n:,} {state}" for state, n in outcome.counts.items())
    rows = [
        (host.host, f"{host.done:,} of {host.attempts:,}", host.peak, duration(host.busy_s), host.width or "")
        for host in outcome.hosts
    ]
    table = _table(("host", "attempts done", "at once", "busy", "width at the end"), rows) if rows else ""
    return f"<div class=progress>{bar}</div><p class=quiet>{counts}</p><dl>{boxes}</dl>{table}"


def _table(names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _decisions(moments: list[Moment]) -> str:
    if not moments:
        return "<p class=quiet>None: nothing was retried, stopped or moved.</p>"
    rows = [
        (
            duration(one.after_s),
            one.what,
            one.who,
            one.text,
            one.why + (f" · {one.times} times" if one.times > 1 else ""),
        )
        for one in moments
    ]
    return _table(("after", "what", "of", "decision", "why"), rows)


def _questions(questions: list[OpenQuestion]) -> str:
    if not questions:
        return "<p class=quiet>None.</p>"
    return "".join(
        f"<article><p><b class=what data-what={escape(one.what.split()[0])}>{escape(one.what)}</b> "
        f"<code>{escape(one.task)}</code> {escape(one.why)}"
        + (
            f" <span class=quiet>{one.attempts} attempt{'s' * (one.attempts != 1)}, {escape(one.cost)}</span>"
            if one.attempts
            else ""
        )
        + "</p>"
        + (f"<pre>{escape(one.tail)}</pre>" if one.tail and one.what == "failed" else "")
        + (f"<p class=quiet><code>{escape(one.log)}</code></p>" if one.log else "")
        + "</article>"
        for one in questions
    )


def _tree(roots: list[TaskTreeNode]) -> str:
    parts = ["<ul class=tree>"]
    shown = 0
    stack: list[TaskTreeNode | str] = ["</ul>", *reversed(roots)]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        elif shown < _TREE_NODES_MAX:
            shown += 1
            label = _label(node)
            if not node.children:
                parts.append(f"<li>{label}</li>")
                continue
            is_open = " open" if node.done < node.total else ""
            parts.append(f"<li><details{is_open}><summary>{label}</summary><ul>")
            stack += ["</ul></details></li>", *reversed(node.children)]
    nodes = sum(1 for _ in walk(roots))
    return "".join(parts) + (f"<p class=quiet>{shown:,} of {nodes:,} shown</p>" if shown < nodes else "")


def _label(node: TaskTreeNode) -> str:
    needs = f" <span class=quiet>needs {escape(', '.join(node.needs))}</span>" if node.needs else ""
    progress = f" <span class=quiet>{node.done:,}/{node.total:,}</span>" if node.children else ""
    state = f"<b class=state data-state={node.state}>{node.state}</b>"
    cost = f" <span class=quiet>{spending(node.spent_s, node.tokens, node.cost)}</span>" if node.spent_s else ""
    return f"{state} {escape(node.id)} {escape(node.title)}{progress}{cost}{needs}"


def _style() -> str:
    """The colours of the dashboard, light or dark as the reader's system says, and a few rules for text."""
    sheet = files("manyhands.surfaces.page").joinpath("style.css").read_text(encoding="utf-8")
    light = re.search(r":root\s*\{(.*?)\}", sheet, re.DOTALL)
    dark = re.search(r":root\[data-theme=dark\]\s*\{(.*?)\}", sheet, re.DOTALL)
    assert light is not None
    assert dark is not None
    own = files("manyhands.surfaces.review").joinpath("review.css").read_text(encoding="utf-8")
    return f":root{{{light[1]}}}@media (prefers-color-scheme: dark){{:root{{{dark[1]}}}}}{own}"
