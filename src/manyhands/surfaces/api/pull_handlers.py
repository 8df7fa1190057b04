"""Agents that come by themselves, over HTTP."""

from manyhands.core.values.ending import EndingKind, Note
from manyhands.core.values.task import Claims
from manyhands.surfaces.api import request_types
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.live_link import LiveLink
from manyhands.surfaces.api.query_handlers import safe
from manyhands.surfaces.api.request_types import ApiRequest
from manyhands.surfaces.verbs import pull_verbs
from manyhands.surfaces.verbs.pull_answers import LeaseReport, NextWork, WorkTaken
from manyhands.surfaces.verbs.pull_verbs import UsageSaid


async def next_work(context: ApiContext, asked: ApiRequest) -> NextWork:
    body: request_types.NextAsked = asked.body
    link = LiveLink(context.dispatcher)
    return safe(context, await pull_verbs.next_work(link, body.puller, body.host, body.kinds, body.wait_s))


async def report(context: ApiContext, asked: ApiRequest) -> LeaseReport:
    body: request_types.ReportAsked = asked.body
    usage = UsageSaid(body.tokens_in, body.tokens_out, body.cost)
    link = LiveLink(context.dispatcher)
    return safe(context, await pull_verbs.report_work(link, body.token, body.puller, body.progress, usage))


async def finish(context: ApiContext, asked: ApiRequest) -> WorkTaken:
    body: request_types.FinishAsked = asked.body
    usage = UsageSaid(body.tokens_in, body.tokens_out, body.cost)
    notes = [Note(note.kind, note.text) for note in body.notes]
    link = LiveLink(context.dispatcher)
    kind = EndingKind(body.ending)
    done = await pull_verbs.finish_work(link, body.token, body.puller, kind, body.detail, body.result, usage, notes)
    return safe(context, done)


async def release(context: ApiContext, asked: ApiRequest) -> WorkTaken:
    body: request_types.ReleaseAsked = asked.body
    link = LiveLink(context.dispatcher)
    return safe(context, await pull_verbs.release_work(link, body.token, body.puller, body.why))


async def reserve(context: ApiContext, asked: ApiRequest) -> NextWork:
    body: request_types.ReserveAsked = asked.body
    claims = Claims(tuple(body.write), tuple(body.append), tuple(body.read))
    link = LiveLink(context.dispatcher)
    return safe(context, await pull_verbs.reserve_files(link, body.puller, body.host, claims, body.why, body.wait_s))
