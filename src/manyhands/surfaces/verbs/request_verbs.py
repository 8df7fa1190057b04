"""What people and agents want of tasks and hosts: asked durably of whoever dispatches now, or next."""

import time
from collections.abc import Iterable

from msgspec import Struct

from manyhands.core.events import HostPaused, HostResumed, Input, WidthSet
from manyhands.core.state import HostState
from manyhands.engine.store.store_opening import make, open_requests
from manyhands.engine.task_wishes import WISHES
from manyhands.errors import Conflict, UsageError
from manyhands.readers.problems import did_you_mean
from manyhands.surfaces.verbs.host_verbs import hosts_seen
from manyhands.surfaces.verbs.store_view import View, command_for, find_task


class Asked(Struct, frozen=True):
    """It is on disk and will be acted on."""

    done: str
    heard: bool  # by a dispatcher that is at work now; else the next one acts on it


def ask(view: View, wishes: Iterable[Input]) -> bool:
    """Whether a dispatcher has heard of it."""
    config = view.config
    make(view.place, config.store.durability)
    asking = open_requests(view.place, config.store.durability)
    try:
        for wish in wishes:
            asking.ask(wish)
        return asking.heard
    finally:
        asking.close()


def ask_of_task(view: View, verb: str, id: str, run: str | None) -> Asked:
    """Of that task in that run, or in the newest run that has it: cancel, retry, defer or resume."""
    wish = WISHES[verb]
    record = find_task(view.book, id, run)
    wish.check(record)
    task = f"task {id} of run {record.run}"
    if ask(view, [wish.event(time.time(), record.run, record.task.id)]):
        return Asked(f"{task} is being {wish.done}", heard=True)
    goes_on = command_for(view.book.runs[record.run])
    return Asked(f"{task} will be {wish.done} when it goes on: `{goes_on}`", heard=False)


def pause_host(view: View, name: str, why: str) -> Asked:
    _known(view, name)
    return _ask_of_host(view, HostPaused(time.time(), name, why), f"host {name} takes nothing more until it is resumed")


def resume_host(view: View, name: str) -> Asked:
    host = _known(view, name)
    if host is None or host.paused is None:
        raise Conflict(f"host `{name}` is not paused", "`manyhands host` says how it is")
    return _ask_of_host(view, HostResumed(time.time(), name), f"host {name} goes on")


def set_width(view: View, name: str, width: int | None) -> Asked:
    """None: the clutch decides again."""
    _known(view, name)
    to = "is free again: the clutch decides" if width is None else f"is {width}"
    return _ask_of_host(view, WidthSet(time.time(), name, width), f"the width of {name} {to}")


def _known(view: View, name: str) -> HostState | None:
    """As the journal knows it; None if it has not been used yet."""
    seen = hosts_seen(view)
    names = [host.name for host in view.config.hosts]
    if name not in names and name not in seen:
        raise UsageError(f"there is no host `{name}`", did_you_mean(name, names) or f"the hosts are {', '.join(names)}")
    return seen.get(name)


def _ask_of_host(view: View, wish: Input, done: str) -> Asked:
    heard = ask(view, [wish])
    return Asked(done if heard else f"{done}; from the next `manyhands run` or `serve` on", heard)
