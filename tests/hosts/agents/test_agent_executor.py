"""Attempts on an agent host, with a program that stands in for the agent."""

import json
import os
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from hosts.agents.agent_stage import AgentStage, recorded
from hosts.agents.recordings import RECORDINGS, SESSION
from hosts.executors.desk import Desk
from manyhands.core.values.ending import EndingKind, NoteKind
from manyhands.core.values.provenance import Purpose
from manyhands.core.values.question import Answer, Guidance
from manyhands.core.values.task import AttemptLimits, Task
from manyhands.hosts.agents.adapter import SettingsFile
from manyhands.hosts.agents.agent_executor import ACP, AgentExecutor
from manyhands.hosts.agents.agent_sessions import KeptSession
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.described_agent import KNOWN
from manyhands.hosts.agents.own_homes import OwnHomes
from manyhands.hosts.agents.resuming import MEANS
from manyhands.hosts.agents.settings_files import with_settings
from manyhands.hosts.executors.live_facts import read_live, silence_s
from manyhands.readers.plain_file import read_plain
from manyhands.sources.config.agent_config import AgentHost, AgentLimits, AgentName, AgentProgram


def test_the_config_and_the_adapters_know_the_same_agents() -> None:
    assert {"", ACP, *KNOWN} == set(get_args(AgentName))


def test_only_programs_that_collide_in_a_home_have_homes_of_their_own_by_themselves() -> None:
    def has_own_homes(agent: str, **fields: Any) -> bool:
        return AgentHost(name="a", agent=AgentProgram(agent), **fields).has_own_homes  # type: ignore[arg-type]

    assert [name for name in KNOWN if has_own_homes(name)] == ["opencode"]
    assert has_own_homes("codex", home="own")
    assert not has_own_homes("opencode", home="shared")


@pytest.mark.parametrize("agent", KNOWN)
async def test_a_good_run_is_done_and_its_log_is_in_words(stage: AgentStage, agent: str) -> None:
    desk = stage.desk(agent, recorded(agent, "ok"))
    ending = await desk.run(Task("t", prompt="do it"))
    assert ending.kind is EndingKind.DONE, ending
    assert ending.tokens_out == 7
    if agent != "aider":
        assert ending.result == "All done."
        log = (desk.directory(1) / "output.log").read_text()
        assert "All done.\n" in log
        assert '"type"' not in log
        assert '"type"' in (desk.directory(1) / "agent.jsonl").read_text()


@pytest.mark.parametrize(
    "prompt", ["--help", "/help", "a 'b' \"c\" $(d)\n\n", "x" * 1_000_000, "-"], ids=lambda p: p[:6]
)
async def test_prompts_arrive_as_they_are(stage: AgentStage, prompt: str) -> None:
    await stage.desk("claude", recorded("claude", "ok")).run(Task("t", prompt=prompt))
    assert stage.given(1)["input"] == f"{prompt}\n\n{MEANS}"


async def test_an_agent_that_begins_is_told_what_people_have_said_about_the_task(stage: AgentStage) -> None:
    guidance = Guidance(words="add a test", answers=(Answer("which database?", "staging"),))
    await stage.desk("claude", recorded("claude", "ok")).run(Task("t", prompt="do it"), guidance=guidance)
    told = stage.given(1)["input"]
    assert told.startswith("do it\n\nYou asked: which database?\nA person answered: staging\n\nA person has looked")
    assert "add a test" in told


@pytest.mark.parametrize("purpose", [Purpose.EVAL, Purpose.TRIAL])
async def test_an_agent_in_an_eval_gets_its_prompt_alone(stage: AgentStage, purpose: Purpose) -> None:
    await stage.desk("claude", recorded("claude", "ok")).run(Task("t", prompt="do it"), purpose=purpose)
    assert stage.given(1)["input"] == "do it"


async def test_the_means_that_an_agent_is_told_of_are_in_its_environment(stage: AgentStage) -> None:
    await stage.desk("claude", recorded("claude", "ok")).run(Task("t", prompt="do it"))
    named = set(re.findall(r"\$(MANYHANDS_[A-Z_]+)", MEANS))
    assert named == {"MANYHANDS_ASK", "MANYHANDS_NOTES_FILE"}
    assert named <= set(stage.given(1)["env"])
    assert set(re.findall(r"`(\w+):`", MEANS)) == set(NoteKind)
    assert len(MEANS.splitlines()) <= 4


async def test_leaving_with_0_is_not_enough(stage: AgentStage) -> None:
    ending = await stage.desk("claude", {"exit": 0}).run(Task("t", prompt="do it"))
    assert (ending.kind, ending.detail) == (
        EndingKind.FAILED,
        "it exited with code 0 but never said that it was done",
    )


async def test_a_task_without_a_prompt_is_refused(stage: AgentStage) -> None:
    ending = await stage.desk("claude", {}).run(Task("t", call="a:b"))
    assert ending.permanent
    assert "has no `prompt`" in ending.detail


async def test_an_unknown_flag_is_permanent_and_says_what_the_program_said(stage: AgentStage) -> None:
    run = {"exit": 1, "errors": "error: unknown option '--colour'\n"}
    ending = await stage.desk("claude", run).run(Task("t", prompt="do it"))
    assert (ending.kind, ending.permanent) == (EndingKind.FAILED, True)
    assert ending.detail == "exit 1: error: unknown option '--colour'"
    assert "unknown option" in ending.tail


async def test_a_program_that_is_not_there_is_named(stage: AgentStage, tmp_path: Path) -> None:
    settings = AgentSettings(workspace=stage.workspace, agent="codex", env={"PATH": str(tmp_path)})
    desk = Desk(lambda s, e: AgentExecutor(settings, s, e), stage.place / "others", settings.journal)
    ending = await desk.run(Task("t", prompt="do it"))
    assert ending.permanent
    assert "`codex` not found" in ending.detail
    await desk.executor.close()


async def test_a_conversation_that_was_cut_short_is_continued(stage: AgentStage) -> None:
    desk = stage.desk("codex", recorded("codex", "rate"), recorded("codex", "ok"))
    first = await desk.run(Task("t", prompt="do it"))
    assert first.session == SESSION
    second = await desk.run(Task("t", prompt="do it"), number=2, last=first)
    assert second.kind is EndingKind.DONE
    assert (stage.given(2)["input"], "resume" in stage.given(2)["argv"]) == ("continue", True)
    assert SESSION in stage.given(2)["argv"]


async def test_after_a_failed_check_the_agent_is_told_what_the_check_said(stage: AgentStage) -> None:
    desk = stage.desk("codex", recorded("codex", "ok"))
    task = Task("t", prompt="do it", check=("sh", "-c", "echo 3 tests fail; exit 1"))
    first = await desk.run(task)
    assert first.detail.startswith("check failed")
    await desk.run(task, number=2, last=first)
    assert "3 tests fail" in stage.given(2)["input"]


async def test_a_program_that_counts_earlier_runs_again_is_not_believed_twice(stage: AgentStage) -> None:
    desk = stage.desk("codex", recorded("codex", "ok"))
    task = Task("t", prompt="do it", check=("false",))
    first = await desk.run(task)
    again = await desk.run(task, number=2, last=first)
    assert (first.tokens_in, again.tokens_in) == (120, 0)


async def test_a_conversation_that_nobody_knows_any_more_begins_afresh(stage: AgentStage) -> None:
    forgotten = {"exit": 1, "errors": f"No conversation found with session ID: {SESSION}\n"}
    desk = stage.desk("claude", recorded("claude", "rate"), forgotten, recorded("claude", "ok"))
    first = await desk.run(Task("t", prompt="do it"))
    second = await desk.run(Task("t", prompt="do it"), number=2, last=first)
    assert second.kind is EndingKind.DONE
    assert [stage.given(n)["input"] for n in (1, 2, 3)] == [f"do it\n\n{MEANS}", "continue", f"do it\n\n{MEANS}"]


async def test_settings_that_only_a_file_can_say_are_given_to_the_program(stage: AgentStage) -> None:
    """Qwen Code would ask for an hour without a word. A person's own file counts instead of ours."""
    variable = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
    desk = stage.desk("qwen", recorded("qwen", "ok"))
    await desk.run(Task("t", prompt="do it"))
    file = Path(stage.given(1)["env"][variable])
    assert file.parent == desk.directory(1)
    assert json.loads(read_plain(file, 1000)) == {"model": {"generationConfig": {"maxRetries": 0}}}
    await stage.desk("qwen", recorded("qwen", "ok")).run(Task("t", prompt="do it", env={variable: "/mine.json"}))
    assert stage.given(2)["env"][variable] == "/mine.json"
    await stage.desk("claude", recorded("claude", "ok")).run(Task("t", prompt="do it"))
    assert variable not in stage.given(3)["env"]


def test_a_file_where_the_program_looks_anyway_is_not_hidden(tmp_path: Path) -> None:
    usual = tmp_path / "usual.json"
    file = SettingsFile("ITS_SETTINGS", "{}", (str(usual),))
    assert with_settings(file, tmp_path, {}) == {"ITS_SETTINGS": str(tmp_path / "its_settings.json")}
    usual.write_text("{}")
    assert with_settings(file, tmp_path, {}) == {}
    assert with_settings(None, tmp_path, {}) == {}


async def test_a_limit_ends_an_attempt_with_that_reason(stage: AgentStage) -> None:
    lines = RECORDINGS["opencode", "ok"][1]
    run = {"lines": lines[:2], "after": "sleep 1000"}
    desk = stage.desk("opencode", run, limits=AgentLimits(tokens=10))
    ending = await desk.run(Task("t", prompt="do it"))
    assert (ending.kind, ending.permanent) == (EndingKind.FAILED, True)
    assert ending.detail == "reached its limit of 10 tokens"
    assert ending.tokens_in == 60


async def test_the_lower_limit_of_task_and_host_counts(stage: AgentStage) -> None:
    lines = RECORDINGS["opencode", "ok"][1]
    desk = stage.desk("opencode", {"lines": lines[:2], "after": "sleep 1000"}, limits=AgentLimits(tokens=10_000))
    ending = await desk.run(Task("t", prompt="do it", limits=AttemptLimits(cost=0.05, tokens=20_000)))
    assert ending.detail == "reached its limit of 0.05 in cost"
    desk = stage.desk("claude", recorded("claude", "ok"), limits=AgentLimits(turns=9))
    await desk.run(Task("t", prompt="do it", limits=AttemptLimits(turns=4, cost=2.5)))
    argv = stage.given(2)["argv"]
    assert argv[argv.index("--max-turns") + 1 : argv.index("--max-turns") + 4] == ["4", "--max-budget-usd", "2.5"]


async def test_what_it_does_can_be_read_while_it_runs_and_is_gone_afterwards(stage: AgentStage) -> None:
    lines = RECORDINGS["opencode", "ok"][1]
    desk = stage.desk("opencode", {"lines": lines[:2], "after": "sleep 1000"}, idle_s=600.0)
    attempt = desk.start(Task("t", prompt="do it"))
    await desk.until(lambda: (live := read_live(desk.directory(1))) is not None and live.tokens_in > 0)
    live = read_live(desk.directory(1))
    assert live is not None
    assert (live.does, live.tokens_in, live.tokens_out, live.cost) == ("write /w/a.py", 60, 3, 0.1)
    assert (live.idle_s, silence_s(live, live.alive_at + 240)) == (600.0, 240)
    desk.executor.stop(attempt)
    await desk.ending(attempt)
    assert read_live(desk.directory(1)) is None


async def test_a_program_that_asks_again_and_again_is_a_sign_of_load_before_it_ends(stage: AgentStage) -> None:
    retried: list[int] = []
    again = [json.dumps({"type": "error", "message": f"Reconnecting... {n}/5 (429)"}) for n in range(1, 6)]
    run = {"lines": [*RECORDINGS["codex", "ok"][1][:1], *again], "after": "sleep 1000"}
    desk = stage.desk("codex", run, retried=retried.append)
    attempt = desk.start(Task("t", prompt="do it"))
    await desk.until(lambda: bool(retried))
    desk.executor.stop(attempt)
    await desk.ending(attempt)
    assert retried == [attempt], "once, however often it asked"


async def test_its_temporary_directory_is_its_own_whatever_the_surroundings_say(
    stage: AgentStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside its confinement it could not write to any other."""
    monkeypatch.setenv("TMPDIR", str(stage.place))
    desk = stage.desk("claude", recorded("claude", "ok") | {"then": 'echo > "$TMPDIR/made" && touch made-it'})
    await desk.run(Task("t", prompt="do it"))
    assert (stage.workspace / "made-it").exists()
    assert not stage.has_kept_temporary(1), "gone with what is in it"


@pytest.mark.parametrize("agent", sorted({agent for agent, mode in RECORDINGS if mode == "auth"}))
async def test_who_cannot_authenticate_says_what_helps(stage: AgentStage, agent: str) -> None:
    ending = await stage.desk(agent, recorded(agent, "auth")).run(Task("t", prompt="do it"))
    assert (ending.kind, ending.needs_person) == (EndingKind.OVERLOADED, True)
    assert ending.detail.endswith(KNOWN[agent].advice.auth)


async def test_a_denied_tool_needs_a_person_unless_a_check_says_that_all_is_well(stage: AgentStage) -> None:
    exit_code, lines = RECORDINGS["claude", "ok"]
    closing = json.loads(lines[-1]) | {"permission_denials": [{"tool_name": "Bash"}]}
    run = {"lines": [*lines[:-1], json.dumps(closing)], "exit": exit_code}
    desk = stage.desk("claude", run)
    ending = await desk.run(Task("t", prompt="do it"))
    assert (ending.kind, ending.needs_person) == (EndingKind.FAILED, True)
    assert ending.detail.startswith("it was not allowed to do all it wanted (Bash); ")
    assert "--allowedTools" in ending.detail
    assert (await desk.run(Task("t", prompt="do it", check=("true",)))).kind is EndingKind.DONE


async def test_a_stopped_agent_is_gone_with_its_tools(stage: AgentStage) -> None:
    desk = stage.desk("claude", {"lines": RECORDINGS["claude", "ok"][1][:1], "after": "sleep 1000"})
    attempt = desk.start(Task("t", prompt="do it"))
    await desk.until(lambda: "session_id" in _raw(desk))
    desk.executor.stop(attempt)
    ending = await desk.ending(attempt)
    assert (ending.kind, ending.session) == (EndingKind.CANCELLED, SESSION)
    assert desk.alive() == []


async def test_endless_and_odd_output_costs_nothing(stage: AgentStage) -> None:
    odd = recorded("claude", "ok") | {"then": "head -c 20000000 /dev/zero; echo; printf '\\377\\376{\\n'"}
    ending = await stage.desk("claude", odd).run(Task("t", prompt="do it"))
    assert ending.kind is EndingKind.DONE


def _raw(desk: Desk) -> str:
    file = desk.directory(1) / "agent.jsonl"
    return file.read_text() if file.exists() else ""


async def test_attempts_at_once_have_homes_of_their_own_with_the_settings(stage: AgentStage) -> None:
    data, settings = stage.home / ".local/share/opencode", stage.home / ".config/opencode"
    data.mkdir(parents=True)
    settings.mkdir(parents=True)
    (data / "auth.json").write_text("signed in")
    (data / "opencode.db").write_text("of another")
    (settings / "opencode.json").write_text("{}")
    (settings / "agent").mkdir()
    (settings / "agent" / "critic.md").write_text("of the person")
    (stage.home / ".gitconfig").write_text("of a tool")
    homes = stage.place / "homes"
    run = recorded("opencode", "ok") | {"then": 'echo here > "$HOME/.local/share/opencode/opencode.db"; sleep 0.3'}
    desk = stage.desk("opencode", run, homes=homes)
    attempts = [desk.start(Task(f"t{n}", prompt="do it")) for n in range(2)]
    endings = [await desk.ending(attempt) for attempt in attempts]
    assert [ending.kind for ending in endings] == [EndingKind.DONE] * 2, endings
    assert sorted(home.name for home in homes.iterdir()) == ["1", "2"]
    for home in homes.iterdir():
        assert (home / ".local/share/opencode/auth.json").read_text() == "signed in"
        assert (home / ".local/share/opencode/opencode.db").read_text() == "here\n"
        assert (home / ".config/opencode/opencode.json").read_text() == "{}"
        assert (home / ".config/opencode/agent/critic.md").read_text() == "of the person"
        assert (home / ".gitconfig").read_text() == "of a tool"
    assert (data / "opencode.db").read_text() == "of another"
    (data / "auth.json").write_text("signed in again")
    os.utime(data / "auth.json", (2**31, 2**31))
    assert (await desk.run(Task("t2", prompt="do it"))).kind is EndingKind.DONE
    assert (homes / "1" / ".local/share/opencode/auth.json").read_text() == "signed in again"
    assert not (homes / "3").exists(), "a home that is free again is used again"


def test_a_link_that_an_agent_leaves_in_its_home_is_not_written_through(tmp_path: Path) -> None:
    person, homes = tmp_path / "person", OwnHomes(tmp_path / "homes", [".claude"])
    (person / ".claude").mkdir(parents=True)
    (person / ".claude" / "settings.json").write_text("{}")
    (person / ".claude.json").write_text("{}")
    precious = person / ".profile"
    precious.write_text("mine")
    home = homes.take(person)
    assert (home / ".claude.json").read_text() == (home / ".claude" / "settings.json").read_text() == "{}"
    assert not (home / ".claude.json").is_symlink()
    (home / ".claude" / "settings.json").unlink()
    (home / ".claude" / "settings.json").symlink_to(precious)
    homes.give_back(home)
    os.utime(person / ".claude" / "settings.json", (2**31, 2**31))
    assert homes.take(person) == home
    assert precious.read_text() == "mine"


async def test_a_conversation_is_resumed_in_the_home_where_it_began(stage: AgentStage) -> None:
    homes = stage.place / "homes"
    refused = recorded("opencode", "ok") | {"exit": 75}
    desk = stage.desk("opencode", refused, recorded("opencode", "ok"), homes=homes)
    kept = KeptSession("ses_1", "opencode", str(stage.workspace), home=str(homes / "2"))
    (homes / "2").mkdir(parents=True)
    taken = OwnHomes(homes, ())
    assert taken.take(stage.home, kept.home) == homes / "2"
    assert not taken.is_free(kept.home)
    assert not taken.is_free(str(stage.home))
    first = await desk.run(Task("t", prompt="do it"))
    assert first.kind is EndingKind.OVERLOADED, first
    last = await desk.run(Task("t", prompt="do it"), number=2, last=first)
    assert last.kind is EndingKind.DONE, last
    assert stage.given(1)["env"]["HOME"] == stage.given(2)["env"]["HOME"] == str(homes / "1")
    assert "-s" in stage.given(2)["argv"]
