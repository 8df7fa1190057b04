"""Where attempts on an agent host are tried out, with a program that stands in for the agent."""

import json
import secrets
import sys
from functools import partial
from pathlib import Path
from typing import Any

from hosts.agents.recordings import RECORDINGS
from hosts.executors.desk import Desk
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.agents.agent_events import (
    AgentEvent,
)
from manyhands.hosts.agents.agent_executor import AgentExecutor
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.agent_watch import AgentCalls, AgentWatch
from manyhands.hosts.executors.executor import Retried

FAKE = Path(__file__).with_name("fake_agent.py")


class AgentStage:
    def __init__(self, tmp_path: Path) -> None:
        self.place = tmp_path
        self.workspace = tmp_path / "workspace"
        self.workspace.mkdir()
        self.home = tmp_path / "home"
        self.notes = self.home / ".cache" / "stand-in"
        self.notes.mkdir(parents=True)
        self.desks: list[Desk] = []

    def desk(self, agent: str, *runs: dict[str, Any], retried: Retried = lambda attempt: None, **fields: Any) -> Desk:
        script = self.notes / "script.json"
        script.write_text(json.dumps(runs))
        journal = f"test-{secrets.token_hex(8)}"
        settings = AgentSettings(
            workspace=self.workspace,
            journal=journal,
            grace_s=0.5,
            agent=agent,
            run=(sys.executable, str(FAKE), str(script)),
            env={"HOME": str(self.home)},
            **fields,
        )
        make = partial(AgentExecutor, settings, retried=retried)
        self.desks.append(Desk(lambda s, e: make(s, e), self.place / "attempts", journal))
        return self.desks[-1]

    def ends_silent(self, *events: AgentEvent) -> tuple[EndingKind, str]:
        """How an attempt ends that is stopped for its silence after these events."""
        order = StartAttempt(1, "a-run", Task("t", prompt="do it"), 1, "a-host", None)
        directory = self.place / "silent"
        directory.mkdir(exist_ok=True)
        settings = AgentSettings(workspace=self.workspace, agent="codex", idle_s=900.0)
        calls = AgentCalls(lambda attempt: None, lambda attempt: None)
        watch = AgentWatch(settings, order, directory, str(self.workspace), calls, agent="codex", resumes=True)
        tally = AgentTally()
        for event in events:
            tally.note(event)
            watch.heard(event, tally)
        watch.was_silent(tally, runs_tool=False)
        ending = watch.ending(Ending(EndingKind.CANCELLED), tally)
        watch.close()
        return ending.kind, ending.detail

    def has_kept_temporary(self, number: int) -> bool:
        return Path(self.given(number)["env"]["TMPDIR"]).exists()

    def given(self, number: int) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.notes / f"given.{number}.json").read_text())
        return content


def recorded(agent: str, mode: str) -> dict[str, Any]:
    exit_code, lines = RECORDINGS[agent, mode]
    return {"lines": lines, "exit": exit_code}
