"""The tools of agents that come by themselves. Each waits for the dispatcher, because a lease is nothing without it."""

import os
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Claims
from manyhands.errors import UsageError
from manyhands.hosts.executors.said_notes import notes_in
from manyhands.surfaces.mcp.arguments import FilesWanted, GivenBack, NextWanted, ProgressSaid, UsedSoFar, WorkDone
from manyhands.surfaces.verbs import pull_verbs
from manyhands.surfaces.verbs.pull_answers import LeaseReport, NextWork, WorkTaken
from manyhands.surfaces.verbs.pull_verbs import ENDINGS, UsageSaid, WorkLink
from manyhands.surfaces.verbs.store_link import linked
from manyhands.surfaces.verbs.store_view import View

#: What a tool does for an agent of that name: the link to the dispatcher, the arguments, the name.
PullWork = Callable[[WorkLink, Any, str], Awaitable[object]]

#: On stdin and stdout one agent talks to one process, so the process can name it.
_THIS_AGENT = f"agent-{os.getpid()}-{secrets.token_hex(3)}"


def over_store(work: PullWork) -> Callable[[View, Any], object]:
    """The tool in a process of its own, which reaches the dispatcher through the store."""
    return lambda view, wanted: linked(view, lambda link: work(link, wanted, wanted.puller or _THIS_AGENT))


def name_over_http(wanted: Any) -> str:
    """Over HTTP many agents talk to one process, so each must name itself."""
    if wanted.puller is None:
        raise UsageError("`puller` is missing", "give a name that no other agent has, and the same in every call")
    return str(wanted.puller)


async def pull_next(link: WorkLink, wanted: NextWanted, name: str) -> NextWork:
    return await pull_verbs.next_work(link, name, wanted.host, wanted.kinds, wanted.wait_s)


async def pull_report(link: WorkLink, said: ProgressSaid, name: str) -> LeaseReport:
    return await pull_verbs.report_work(link, said.token, name, said.progress, _used(said))


async def pull_finish(link: WorkLink, said: WorkDone, name: str) -> WorkTaken:
    if said.ending not in ENDINGS:
        raise UsageError(f"`ending` must be {', '.join(ENDINGS)}, got `{said.ending[:100]}`", "or use pull_release")
    kind, notes = EndingKind(said.ending), notes_in(said.notes)
    return await pull_verbs.finish_work(link, said.token, name, kind, said.detail, said.result, _used(said), notes)


async def pull_release(link: WorkLink, given_back: GivenBack, name: str) -> WorkTaken:
    return await pull_verbs.release_work(link, given_back.token, name, given_back.why)


async def pull_reserve(link: WorkLink, wanted: FilesWanted, name: str) -> NextWork:
    claims = Claims(wanted.write, wanted.append, wanted.read)
    return await pull_verbs.reserve_files(link, name, wanted.host, claims, wanted.why, wanted.wait_s)


def _used(said: UsedSoFar) -> UsageSaid:
    return UsageSaid(said.tokens_in, said.tokens_out, said.cost)
