"""Records what a real program prints against the scripted model, for `recorded/` and test_recorded.py.

    PYTHONPATH=tests MANYHANDS_AGENTS=… python -m hosts.agents.record_agents codex ok rate quota

As `make run-agents` does, start it where programs reach loopback alone. A recording is cut to what an adapter may read,
and nothing in it is of this machine.
"""

import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hosts.agents.playback import RECORDED
from hosts.agents.real_runs import Account, one_host
from manyhands.core.values.ending import Ending
from manyhands.core.values.task import Task

_TEXT_MAX = 240
_LIST_MAX = 3
#: Of standard error, what says that the program asks again.
_WARNING = re.compile(r"Attempt \d+ failed.*")


async def record(agent: str, mode: str) -> Ending:
    """A refused program may ask again for four minutes before it ends."""
    account = Account()
    account.model.mode = lambda: mode
    with tempfile.TemporaryDirectory(prefix="mh-") as made:
        place = Path(made)
        desk = one_host(place, agent, account)
        attempt = desk.start(Task("t", prompt="Run `printf done > out.txt`"))
        ending = await desk.ending(attempt, within_s=600)
        await desk.executor.close()
        _keep(agent, mode, _recording_of(desk.directory(attempt), ending, place))
    account.model.close()
    return ending


def _keep(agent: str, mode: str, recording: dict[str, Any]) -> None:
    file = RECORDED / f"{agent}.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    kept[mode] = recording
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def _recording_of(attempt: Path, ending: Ending, place: Path) -> dict[str, Any]:
    lines = (attempt / "agent.jsonl").read_text().splitlines()
    errors = (attempt / "agent.stderr").read_text().splitlines()
    found: dict[str, Any] = {"exit": ending.exit_code or 0}
    found["lines"] = [_plain(_trimmed(line), place) for line in lines]
    warnings = [_plain(line[:_TEXT_MAX], place) for line in errors if _WARNING.match(line)]
    return found | ({"errors": warnings} if warnings else {})


def _trimmed(line: str) -> str:
    try:
        return json.dumps(_cut(json.loads(line)), ensure_ascii=False)
    except ValueError:
        return line


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_TEXT_MAX]
    if isinstance(value, list):
        return [_cut(one) for one in value[:_LIST_MAX]]
    if isinstance(value, dict):
        return {name: _cut(one) for name, one in value.items()}
    return value


def _plain(line: str, place: Path) -> str:
    """Without the paths and the port of this machine."""
    line = line.replace(str(place), "/here")
    line = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", line)
    line = re.sub(r"/tmp/[\w./-]+|/root/[\w./@+-]+|/home/[\w./@+-]+", "/there", line)
    return re.sub(r"-there|-tmp-[\w-]+", "-there", line)


if __name__ == "__main__":
    for mode in sys.argv[2:]:
        ending = asyncio.run(record(sys.argv[1], mode))
        print(f"{sys.argv[1]} {mode}: {ending.kind} {ending.detail}")
