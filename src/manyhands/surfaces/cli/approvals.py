"""`manyhands task diff|approve|send-back|reject|answer`: work and questions that wait for a person."""

import getpass
import os

from msgspec.structs import replace

from manyhands.surfaces.cli.printing import OutputFormat, print_json, put_lines, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.approval_verbs import SAYINGS, check_is_person, say_to_task
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View, find_task
from manyhands.surfaces.verbs.work_diff import WorkDiff, work_diff


def show_diff(id: str, run: str | None, output: OutputFormat, settings: Settings) -> None:
    view = View(settings.load())
    found = work_diff(view, find_task(view.book, id, run))
    redact = view.secrets.redact
    found = replace(found, diff=redact(found.diff), check_output=redact(found.check_output))
    if output is OutputFormat.JSON:
        print_json(found)
    elif output is OutputFormat.IDS:
        put_lines([found.commit])
    else:
        put_lines(_lines(found))


def _lines(found: WorkDiff) -> list[str]:
    lines = [f"{found.task} of run {found.run}, attempt {found.attempt}: {found.summary} ({found.commit[:10]})"]
    lines += [f"  {_counted(one.added, '+')} {_counted(one.removed, '−')}  {one.path}" for one in found.files]
    if found.check:
        lines += ["", f"$ {found.check}", *found.check_output.splitlines()]
    lines += ["", *found.diff.splitlines()]
    if found.is_cut:
        lines.append(f"… the diff is cut; `git diff {found.base[:10]} {found.commit[:10]}` prints all of it")
    return lines


def _counted(lines: int | None, sign: str) -> str:
    return f"{'binary' if lines is None else f'{sign}{lines:,}':>7}"


def judge(verb: str, id: str, words: str, run: str | None, settings: Settings, url: str | None) -> None:
    check_is_person(os.environ)
    config = settings.load()
    who = user_name()
    if url is not None:
        from manyhands.surfaces.cli.over_http import RemoteDispatcher, path_of

        dispatcher = RemoteDispatcher(url, config.store_directory)
        path = path_of("tasks", run or dispatcher.run_of(id), id, verb)
        body = {"by": who} | ({"words": words} if SAYINGS[verb] or words else {})
        say(dispatcher.ask("POST", path, body)["done"])
        return
    view = View(config)
    say(ask(view, say_to_task(view, verb, id, run, words, who)).done)


def user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user that has no name
        return str(os.getuid())
