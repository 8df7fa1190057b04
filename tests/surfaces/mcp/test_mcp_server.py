"""`manyhands mcp` as an agent meets it: the real command, asked by the library's own client over stdin and stdout."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from manyhands.core.values.ending import Note, NoteKind
from manyhands.hosts.executors.said_notes import notes_in
from manyhands.install_hints import install_hint
from manyhands.surfaces.cli.main import NOUNS, noun_of
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.mcp.arguments import schema_of
from manyhands.surfaces.mcp.tools import tools
from manyhands.surfaces.verbs.plan_verbs import HandedIn, add
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View
from surfaces.cli.console import PATIENCE_S, Console, sh, shell_host, wait_until

KEY = "sk-not-a-real-key-0123456789"


class Agent:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content
        return result.content[0].text


@asynccontextmanager
async def agent(
    console: Console, *options: str, mode: Literal["auto", "legacy"] = "auto", **env: str
) -> AsyncIterator[Agent]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "manyhands", "mcp", *options],
        cwd=console.directory,
        env={**os.environ, **env},
    )
    with (console.directory / "mcp-talk").open("w") as talk:
        async with Client(stdio_client(server, errlog=talk), mode=mode, read_timeout_seconds=PATIENCE_S) as client:
            yield Agent(client)


async def test_an_agent_plans_adds_follows_and_reviews_what_a_dispatcher_runs(console: Console) -> None:
    console.config(shell_host(2))
    console.plan([sh("first", "until [ -e go ]; do sleep 0.02; done; echo went")])
    async with agent(console) as mcp:
        checked = await mcp.ask(
            "plan_check", tasks=[sh("a", "true", claims={}), sh("b", "true", claims={}, needs=["a"])]
        )
        assert (checked["problems"], checked["tasks"], checked["ceiling"]["tasks"]) == ([], 2, 1)
        wrong = await mcp.refused("add", tasks=[sh("a", "true"), {"id": "b", "promt": "x"}])
        assert "plan `tasks` line 2: unknown field `promt`" in wrong
        assert "did you mean `prompt`?" in wrong
        assert not console.store.exists()

        early = await mcp.ask("add", tasks=[sh("early", "true", claims={})])
        assert (early["run"], early["tasks"], early["heard"]) == ("added", ["early"], False)
        assert early["done"] == "1 task added to run added; `manyhands serve` will run it"
        why = (await mcp.ask("task_explain", task="early"))["why"]
        assert "no dispatcher is running; `manyhands serve` continues" in why[0]
        assert why[1:] == ["no dispatcher has run here yet"]

        live = console.start("run", "plan.jsonl")
        wait_until(lambda: console.book().runs.get("plan-1"), "the run")
        added = await mcp.ask("add", tasks=[sh("second", "echo done by $0", needs=["first"], claims={})], to="plan-1")
        assert (added["run"], added["heard"]) == ("plan-1", True)
        deferred = await mcp.ask("task_defer", task="second")
        assert deferred == {"done": "task second of run plan-1 is being deferred", "heard": True}
        wait_until(lambda: console.book().runs["plan-1"].records["second"].state == "deferred", "its deferral")
        await mcp.ask("task_resume", task="second")
        assert (await mcp.ask("host_pause", host="local", why="looking"))["heard"]
        await mcp.ask("host_resume", host="local")
        console.write("go", "")
        assert live.end().code == 0

        listed = await mcp.ask("task_list", run="plan-1")
        assert [(row["task"], row["state"]) for row in listed["tasks"]] == [("first", "done"), ("second", "done")]
        assert listed["tasks"] == console.run("task", "--run", "plan-1", "-o", "json").json
        log = await mcp.ask("task_log", task="first")
        assert (log["attempt"], log["ending"], log["output"], log["is_whole"]) == (1, "done", "went", True)
        told = await mcp.client.call_tool("review", {"run": "plan-1"})
        assert told.content[0].text.startswith("# Run plan-1: ")
        [host] = (await mcp.ask("host_list"))["hosts"]
        assert (host["host"], host["width"], host["in_flight"]) == ("local", 2, 0)
    assert "tools for the store" in (console.directory / "mcp-talk").read_text()


async def test_an_attempt_notes_what_should_be_remembered(console: Console) -> None:
    notes = console.directory / "notes.txt"
    notes.write_text("lesson: the cache\nlies")
    async with agent(console, MANYHANDS_NOTES_FILE=str(notes)) as mcp:
        kept = await mcp.ask("note", kind="decision", text="keep the\nlesson: old parser")
        assert kept["note"] == "decision: keep the lesson: old parser"
        await mcp.ask("note", kind="handoff", text="half is done")
        assert notes_in(notes.read_text()) == [
            Note(NoteKind.LESSON, "the cache lies"),
            Note(NoteKind.DECISION, "keep the lesson: old parser"),
            Note(NoteKind.HANDOFF, "half is done"),
        ]
        assert "`kind` must be" in await mcp.refused("note", kind="joke", text="x")
        assert "the note is empty" in await mcp.refused("note", kind="lesson", text=" \n")
        assert "has 1,001 characters" in await mcp.refused("note", kind="lesson", text="x" * 1001)
        notes.write_text("lesson: again\n" * 50)
        assert "has 50 notes" in await mcp.refused("note", kind="lesson", text="x")
        notes.unlink()
        notes.symlink_to(console.directory / "elsewhere")
        assert "cannot be used" in await mcp.refused("note", kind="lesson", text="x")
        assert not (console.directory / "elsewhere").exists()
    async with agent(console) as mcp:
        assert "does not run inside one" in await mcp.refused("note", kind="lesson", text="x")


async def test_read_only_offers_nothing_that_changes_and_shows_no_secret(console: Console) -> None:
    task = sh("a", "true", env={"SERVICE_TOKEN": "hunter2-hunter2", "MODE": "quiet"}, prompt=f"use {KEY}")
    view = View(Settings(store=str(console.store)).load())
    ask(view, add(view, HandedIn(rows=[task], rows_from="test"), None))
    async with agent(console, "--read-only", mode="legacy") as mcp:
        offered = (await mcp.client.list_tools()).tools
        assert {tool.name for tool in offered} == set(tools(read_only=True))
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in offered)
        assert "there is no tool `add` here" in await mcp.refused("add", tasks=[sh("b", "true")])
        shown = await mcp.client.call_tool("task_show", {"task": "a"})
        assert "hunter2" not in shown.model_dump_json()
        assert KEY not in shown.model_dump_json()
        assert shown.structured_content["plan"]["env"] == {"SERVICE_TOKEN": "[redacted]", "MODE": "[redacted]"}
        assert "there is no task `b` in any run" in await mcp.refused("task_show", task="b")
        misspelt = await mcp.refused("task_list", stat="done", limit=0)
        assert "tool `task_list`: unknown field `stat`" in misspelt
        assert "did you mean `state`?" in misspelt
        assert "`limit` must be 1 or more, got 0" in await mcp.refused("task_list", limit=0)
    assert list(console.book().runs["added"].records) == ["a"]


def test_without_the_library_the_extra_is_named(console: Console) -> None:
    script = (
        "import sys\n"
        "sys.modules['mcp_types'] = None\n"
        "sys.argv[1:] = ['mcp']\n"
        "from manyhands.surfaces.cli.main import main\n"
        "main()\n"
    )
    done = console.python(script)
    assert (done.code, done.out) == (2, "")
    assert "error: `manyhands mcp` needs the library `mcp`" in done.err
    assert f"hint: {install_hint('mcp')}" in done.err


def test_every_tool_goes_by_the_words_of_a_command_and_is_in_the_docs() -> None:
    """The bare noun lists, so `task_list` is `manyhands task`. Without MCP, a note is a line in a file."""
    typed = {"note", *NOUNS}
    for name in NOUNS:
        noun = noun_of(name)
        typed |= {f"{name}_{verb.replace('-', '_')}" for verb in noun.verbs}
        if noun.bare is not None:
            typed.add(f"{name}_list")
    offered = set(tools(read_only=False))
    assert offered - typed == set()
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text()
    assert [name for name in offered if f"`{name}`" not in page] == []


def test_what_a_tool_takes_is_described_by_a_sound_schema() -> None:
    for tool in tools(read_only=False).values():
        schema = schema_of(tool.takes)
        assert schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(schema)
        assert all("description" in field for field in schema["properties"].values())
    assert schema_of(tools(read_only=False)["note"].takes)["properties"]["kind"]["enum"] == sorted(NoteKind)
    schema = schema_of(tools(read_only=False)["add"].takes)
    jsonschema.validate({"tasks": [sh("a", "true", claims={"write": ["a"]})]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"tasks": [{"id": "a", "promt": "x"}]}, schema)
