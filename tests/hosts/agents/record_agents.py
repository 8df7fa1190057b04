"""Records what the real programs print against the scripted model: `record_agents.py AGENT MODE DIRECTORY-OF-ATTEMPT`.

A recording is cut to what an adapter may read, and nothing in it is of this machine. tests/hosts/agents/recorded has
one file for each program; test_recorded.py plays them.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("recorded")  # as `playback` reads them
_TEXT_MAX = 240
_LIST_MAX = 3
#: Of standard error, what says that the program asks again.
_WARNING = re.compile(r"Attempt \d+ failed.*")


def recording_of(attempt: Path, place: Path) -> dict[str, Any]:
    """What one attempt printed; `place` has its workspace and home."""
    ending = json.loads((place / "ending.json").read_text())
    lines = (attempt / "agent.jsonl").read_text().splitlines()
    errors = (attempt / "agent.stderr").read_text().splitlines()
    found: dict[str, Any] = {"exit": ending.get("exit_code") or 0}
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


def main(agent: str, mode: str, place: Path) -> None:
    file = RECORDED / f"{agent}.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    (attempt,) = (place / "attempts").iterdir()
    kept[mode] = recording_of(attempt, place)
    RECORDED.mkdir(exist_ok=True)
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
