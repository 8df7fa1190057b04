"""What do real agent programs lose to a service that refuses, and what do they save by sharing a process?

Against the scripted model of the tests, which closes the account for 20 s after six requests, or kills every burst
above four. `make agents` installs the programs; start this where they reach loopback alone, as `make run-agents` does.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from record import record

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
os.environ.setdefault("MANYHANDS_AGENTS", str(Path.home() / ".cache" / "manyhands-agents"))

from hosts.agents.real_hosts import program_of
from hosts.agents.real_runs import Account, one_host, run, run_together, shown, tries_of
from manyhands.core.values.ending import EndingKind

TASKS, SIX, SESSIONS = 12, 6, 8


def lost(place: Path, agent: str, account: Account, tasks: int, width: str) -> int:
    """How many attempts were refused until all tasks were done."""
    done = run(place, agent, account, tasks, width)
    assert done.returncode == 0, done.stdout + done.stderr
    attempts = [shown(place, f"t{n}")["attempts"] for n in range(tasks)]
    assert all(each[-1]["ending"] == "done" for each in attempts)
    return sum(len(each) - 1 for each in attempts)


def closed_account(agent: str, place: Path) -> None:
    refused = lost(place, agent, Account(closes_after=6), TASKS, "3")
    assert tries_of(place) == [0] * TASKS, "no refusal counts"
    print(f"{agent:12}{TASKS} tasks, the account closes for 20 s: {refused} attempts refused")
    record("agents_closed_account", {"agent": agent, "tasks": TASKS}, refused, "attempts refused")


def burst(agent: str, place: Path) -> None:
    account = Account()
    account.model.bears = 4
    refused = lost(place, agent, account, SIX, f"{{ min = 1, start = {SIX}, max = {SIX} }}")
    print(f"{agent:12}{SIX} at once, every burst above 4 is killed: {refused} attempts refused")
    record("agents_burst", {"agent": agent, "agents": SIX}, refused, "attempts refused")


def memory(agent: str, place: Path) -> None:
    for sessions in (SESSIONS, 1):
        below = place / str(sessions)
        below.mkdir()
        together = asyncio.run(_together(below, agent, sessions))
        how = f"{agent.removesuffix('-acp')}, {together[0]} {'process' if together[0] == 1 else 'processes'}"
        print(f"{agent:12}{SESSIONS} sessions in {how}: {together[1]:.0f} MB")
        record("agents_sharing", {"agent": agent, "sessions": SESSIONS, "how": how}, together[1], "MB resident")


async def _together(place: Path, agent: str, sessions: int) -> tuple[int, float]:
    desk = one_host(place, agent, Account(), sessions=sessions)
    together = await run_together(desk, SESSIONS)
    await desk.executor.close()
    assert all(ending.kind is EndingKind.DONE for ending in together.endings), together.endings
    return together.processes, together.peak_mb


def main() -> None:
    questions: list[tuple[Callable[[str, Path], None], tuple[str, ...]]] = [
        (closed_account, ("codex", "claude", "gemini")),
        (burst, ("codex",)),
        (memory, ("qwen-acp", "gemini-acp")),
    ]
    for ask, agents in questions:
        for agent in agents:
            if not program_of(agent).exists():
                print(f"{agent:12}is not installed; `make agents` installs it")
                continue
            with tempfile.TemporaryDirectory(prefix="mh-") as place:
                ask(agent, Path(place))


if __name__ == "__main__":
    main()
