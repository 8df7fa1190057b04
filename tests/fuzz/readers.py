"""Every reader of what others write, as a function of bytes, with the errors that it is known to raise."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request

from hosts.agents.playback import play
from manyhands.apps.evals.exchange.results_reading import read_results
from manyhands.apps.evals.scoring.unit_tests import from_junit, from_output
from manyhands.apps.evals.spec.spec_file import read_spec
from manyhands.core import events as ev
from manyhands.core.values.ending import DONE, Ending
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.engine.sim.scenario import read_scenario, set_stage
from manyhands.engine.store.contract import codec
from manyhands.engine.store.contract.samples import readable
from manyhands.errors import ManyhandsError
from manyhands.hosts.agents.acp_reading import AcpReading
from manyhands.hosts.agents.adapter import LineMoment
from manyhands.hosts.executors.live_facts import LIVE_FILE, read_live
from manyhands.hosts.executors.openai_answer import NotAnAnswer, chat_answer, embeddings_answer, judged
from manyhands.hosts.executors.said_ending import ENDING_FILE, as_said
from manyhands.hosts.executors.said_notes import NOTES_FILE
from manyhands.hosts.executors.usage import USAGE_FILE, with_usage
from manyhands.hosts.landing.landing_record import FILE as LANDING_FILE
from manyhands.hosts.landing.landing_record import read_record
from manyhands.hosts.probes.device_report import reading_of
from manyhands.hosts.probes.prometheus import values_of
from manyhands.readers.no_answer import NoAnswer
from manyhands.sources.beads import beads_finding
from manyhands.sources.beads.beads_reading import parse
from manyhands.sources.beads.issue_tasks import tasks_of
from manyhands.sources.config.config_reading import load_config
from manyhands.sources.plans.plan_reading import read_plan
from manyhands.sources.queues import entry_tasks
from manyhands.sources.queues.work_queue import QueueEntry
from manyhands.sources.split.graph_file import read_graph
from manyhands.sources.split.tree_file import read_tree
from manyhands.sources.trackers.issue_tracker import as_beads
from manyhands.sources.trackers.markdown_file import BadFrontMatter, issue_of
from manyhands.surfaces.api import request_types
from manyhands.surfaces.api.named_tokens import FILE as TOKENS_FILE
from manyhands.surfaces.api.named_tokens import named_tokens
from manyhands.surfaces.mcp import arguments
from manyhands.surfaces.verbs.audit_trail import FILE as AUDIT_FILE
from manyhands.surfaces.verbs.audit_trail import read_audit

NOW = 1_800_000_000.0


@dataclass(frozen=True)
class Reader:
    read: Callable[[bytes, Path], object]  # the input, and a directory of its own
    errors: tuple[type[Exception], ...] = (ManyhandsError,)


def journalled(*events: ev.AnyEvent) -> None:
    """What was accepted can be written to the journal, and read again."""
    codec.decode_sound(codec.encode(events))


def _ended(ending: Ending) -> None:
    journalled(ev.AttemptEnded(NOW, 1, ending))
    assert ending.retry_after_s is None or (math.isfinite(ending.retry_after_s) and ending.retry_after_s >= 0)


def _plan(name: str, data: bytes, directory: Path) -> None:
    file = directory / name
    file.write_bytes(data)
    journalled(ev.TasksSubmitted(NOW, "r", tuple(read_plan([file]).tasks)))


def _beads(data: bytes, directory: Path) -> None:
    beads = parse(data, "issues.jsonl")
    journalled(ev.TasksSubmitted(NOW, "r", tasks_of(beads, NOW).tasks))
    for id in beads.issues:
        beads.fields(id)


def _beads_settings(data: bytes, directory: Path) -> None:
    beads = directory / "project" / ".beads"
    beads.mkdir(parents=True, exist_ok=True)
    (beads / "issues.jsonl").write_text("")
    for name in ("config.yaml", "metadata.json"):
        (beads / name).write_bytes(data)
    beads_finding.find(directory / "project")


def _markdown(data: bytes, directory: Path) -> None:
    beads = as_beads("notes", {"a": issue_of("a", data.decode(), 0)}, [])
    journalled(ev.TasksSubmitted(NOW, "r", tasks_of(beads, NOW).tasks))


def _config(data: bytes, directory: Path) -> None:
    (directory / "manyhands.toml").write_bytes(data)
    config = load_config(directory, environ={})
    journalled(ev.HostsConfigured(NOW, tuple(config.core_hosts())))


def _from_file(name: str, read: Callable[[Path], object], data: bytes, directory: Path) -> None:
    file = directory / name
    file.write_bytes(data)
    read(file)


def _scenario(data: bytes, directory: Path) -> None:
    (directory / "scenario.toml").write_bytes(data)
    scenario = read_scenario(directory / "scenario.toml")
    if all(0 < host.count < 100 for host in scenario.hosts.values()) and all(b.tasks < 500 for b in scenario.backlog):
        set_stage(scenario, directory)


def _report(name: str, read: Callable[[Ending, Path, Path], Ending], data: bytes, directory: Path) -> None:
    for other in (ENDING_FILE, USAGE_FILE, NOTES_FILE):
        (directory / other).unlink(missing_ok=True)
    (directory / name).write_bytes(data)
    _ended(read(DONE, directory, directory / "output.log"))


def _said(ending: Ending, directory: Path, log: Path) -> Ending:
    return as_said(ending, directory, log, NOW)


def _agent(name: str, data: bytes, directory: Path) -> None:
    lines = data.decode(errors="replace").split("\n")
    for exit_code in (0, 1):
        _ended(play(name, lines, exit_code, NOW))


def _acp(data: bytes, directory: Path) -> None:
    reading = AcpReading()
    moment = LineMoment(NOW)
    for line in data.split(b"\n"):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            reading.update(message)
            reading.tool_call(message)
            reading.answered(message, moment)
            reading.refused(-32603, str(message.get("title", "")), message, moment)


def _values(data: bytes) -> Iterator[Any]:
    try:
        yield json.loads(data)
    except (ValueError, RecursionError):
        return


def _chat(data: bytes, directory: Path) -> None:
    for body in _values(data):
        _ended(judged(chat_answer(body)))


def _embeddings(data: bytes, directory: Path) -> None:
    for body in _values(data):
        embeddings_answer(body)


def _mcp(data: bytes, directory: Path) -> None:
    kinds = [kind for kind in vars(arguments).values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    for given in _values(data):
        for kind in kinds:
            if isinstance(given, dict) and kind is not msgspec.Struct:
                try:
                    arguments.read("tool", kind, given)
                except ManyhandsError:
                    continue


_BODIES = (
    *(request_types.NewTasks, request_types.TaskEdit, request_types.Pause, request_types.WidthWanted),
    *(request_types.NextAsked, request_types.ReportAsked, request_types.FinishAsked, request_types.ReleaseAsked),
    *(request_types.ReserveAsked, request_types.SaidToTask, request_types.NoteAsked),
)


def _api_body(data: bytes, directory: Path) -> None:
    _ask({"type": "http", "query_string": b"", "path_params": {}}, data, request_types.NoFields, _BODIES)


def _api_query(data: bytes, directory: Path) -> None:
    parse_qsl(data.decode("latin-1"), max_num_fields=30)  # the gate refuses more before
    for query in (request_types.TasksQuery, request_types.OutputQuery, request_types.SeriesQuery):
        _ask({"type": "http", "query_string": data, "path_params": {}}, b"", query, (request_types.NoFields,))


def _ask(scope: dict[str, Any], body: bytes, query: Any, bodies: tuple[Any, ...]) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    head = {"headers": [(b"content-type", b"application/json")], "state": {"may_command": True, "holder": "ann"}}
    for wanted in bodies:
        asking = request_types.read_asked(Request({**scope, **head}, receive), query, wanted)
        try:
            asking.send(None)
        except (StopIteration, ManyhandsError):
            continue
        raise AssertionError("it waits for something")


def _queue_entry(data: bytes, directory: Path) -> None:
    text = data.decode(errors="replace")
    for like in (Task("like", prompt="x", claims=NO_CLAIMS), Task("like", call="m:f", claims=NO_CLAIMS)):
        for content in ({"task": text}, *(body for body in _values(data) if isinstance(body, dict))):
            try:
                task = entry_tasks.task_of(QueueEntry("1-0", content), like, "queue", commands=False)
                journalled(ev.TasksSubmitted(NOW, "r", (task,)))
            except entry_tasks.BadEntry:
                continue


def _codec(data: bytes, directory: Path) -> None:
    codec.encode(codec.decode_sound(data))


def _samples(data: bytes, directory: Path) -> None:
    readable([data])


def _unit_tests(data: bytes, directory: Path) -> None:
    _from_file("junit.xml", from_junit, data, directory)
    from_output(data.decode(errors="replace"))


def _probe(data: bytes, directory: Path) -> None:
    reading_of(data, NOW, "somewhere")


def _metrics(data: bytes, directory: Path) -> None:
    values_of(data, ("vllm:num_requests_running", "vllm:kv_cache_usage_perc"))


def _tokens(data: bytes, directory: Path) -> None:
    (directory / TOKENS_FILE).write_bytes(data)
    named_tokens(directory)


def _audit(data: bytes, directory: Path) -> None:
    (directory / AUDIT_FILE).write_bytes(data)
    list(read_audit(directory))


def _live(data: bytes, directory: Path) -> None:
    (directory / LIVE_FILE).write_bytes(data)
    read_live(directory)


def _landing(data: bytes, directory: Path) -> None:
    (directory / LANDING_FILE).write_bytes(data)
    read_record(directory)


READERS: dict[str, Reader] = {
    **{f"plan-{kind}": Reader(partial(_plan, f"plan.{kind}")) for kind in ("toml", "yaml", "json", "jsonl")},
    "markdown": Reader(_markdown, (BadFrontMatter, UnicodeDecodeError)),
    "beads": Reader(_beads),
    "beads-settings": Reader(_beads_settings),
    "config": Reader(_config),
    "eval-spec": Reader(partial(_from_file, "spec.toml", read_spec)),
    "eval-results": Reader(partial(_from_file, "results.json", lambda file: read_results([file]))),
    "unit-tests": Reader(_unit_tests),
    "scenario": Reader(_scenario),
    "split-tree": Reader(partial(_from_file, "tree.json", read_tree)),
    "split-graph": Reader(partial(_from_file, "graph.json", read_graph)),
    "usage": Reader(partial(_report, USAGE_FILE, with_usage)),
    "ending": Reader(partial(_report, ENDING_FILE, _said)),
    "notes": Reader(partial(_report, NOTES_FILE, _said)),
    "live-facts": Reader(_live),
    "landing-record": Reader(_landing, (OSError, ValueError, RecursionError)),
    **{
        f"agent-{name}": Reader(partial(_agent, name))
        for name in ("claude", "codex", "gemini", "qwen", "opencode", "aider")
    },
    "agent-acp": Reader(_acp),
    "model-chat": Reader(_chat, (NotAnAnswer,)),
    "model-embeddings": Reader(_embeddings, (NotAnAnswer,)),
    "probe": Reader(_probe, (NoAnswer,)),
    "metrics": Reader(_metrics, (NoAnswer,)),
    "mcp": Reader(_mcp),
    "api-body": Reader(_api_body),
    "api-query": Reader(_api_query),
    "queue-entry": Reader(_queue_entry),
    "codec": Reader(_codec, (codec.Damaged,)),
    "samples": Reader(_samples),
    "tokens": Reader(_tokens),
    "audit": Reader(_audit),
}
