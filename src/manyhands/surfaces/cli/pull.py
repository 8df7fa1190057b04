"""`manyhands pull`: agents that come by themselves, from a shell."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Claims
from manyhands.errors import Unavailable
from manyhands.hosts.executors.said_notes import notes_in
from manyhands.surfaces.cli.printing import OutputFormat, print_json, put_lines, say
from manyhands.surfaces.cli.pull_options import UsedOptions
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs import pull_verbs
from manyhands.surfaces.verbs.pull_answers import HeldWork, NextWork
from manyhands.surfaces.verbs.pull_verbs import UsageSaid
from manyhands.surfaces.verbs.store_link import StoreLink, linked
from manyhands.surfaces.verbs.store_view import View

PullAnswer = TypeVar("PullAnswer")


def take_next(
    name: str, host: str | None, kinds: Sequence[str], wait_s: int, output: OutputFormat, settings: Settings
) -> int:
    return _show(_linked(settings, lambda link: pull_verbs.next_work(link, name, host, kinds, wait_s)), output)


def reserve(
    paths: Sequence[str],
    name: str,
    why: str,
    host: str | None,
    wait_s: int,
    output: OutputFormat,
    settings: Settings,
) -> int:
    claims = Claims(write=tuple(paths))
    held = _linked(settings, lambda link: pull_verbs.reserve_files(link, name, host, claims, why, wait_s))
    return _show(held, output)


def report(token: int, name: str, progress: str, used: UsedOptions, settings: Settings) -> None:
    told = _linked(settings, lambda link: pull_verbs.report_work(link, token, name, progress, UsageSaid(*used)))
    if told.stop:
        say(f"stop working and give it back ({told.stop}): `manyhands pull release {token} --as {name}`")
    else:
        say(f"lease {token} is renewed")


def finish(
    token: int,
    name: str,
    ending: str,
    detail: str,
    result: str,
    used: UsedOptions,
    notes: Sequence[str],
    settings: Settings,
) -> None:
    kind, noted = EndingKind(ending), notes_in("\n".join(notes))
    told = _linked(
        settings,
        lambda link: pull_verbs.finish_work(link, token, name, kind, detail, result, UsageSaid(*used), noted),
    )
    say(told.done)


def release(token: int, name: str, why: str, settings: Settings) -> None:
    say(_linked(settings, lambda link: pull_verbs.release_work(link, token, name, why)).done)


def _show(told: NextWork, output: OutputFormat) -> int:
    if output is OutputFormat.JSON:
        print_json(told)
    elif told.work is not None:
        put_lines([str(told.work.token)] if output is OutputFormat.IDS else _lines(told.work))
    else:
        say(told.why)
    return 0 if told.work is not None else Unavailable.exit_code


def _lines(work: HeldWork) -> list[str]:
    """The prompt and the claims are needed whole, and a table would cut them."""
    lines = [f"token {work.token}: task {work.task} of run {work.run}, attempt {work.attempt}, kind {work.kind}"]
    lines += [f"title: {work.title}"] if work.title else []
    lines += [f"claims: {claim}" for claim in work.claims]
    lines += [f"command: {' '.join(work.command)}"] if work.command else []
    lines += [f"check: {' '.join(work.check)}"] if work.check else []
    lines += [f"the attempt before ended as {work.last}"] if work.last else []
    lines += ["", work.prompt] if work.prompt else []
    return lines


def _linked(settings: Settings, work: Callable[[StoreLink], Awaitable[PullAnswer]]) -> PullAnswer:
    return linked(View(settings.load()), work)
