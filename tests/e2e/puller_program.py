"""An agent as a program of its own: takes tasks over HTTP until none is left, and notes when two hold the same claim.

`python puller_program.py URL TOKEN NAME DIRECTORY SECONDS`
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import httpx


def main(url: str, token: str, name: str, directory: Path, seconds: float) -> None:
    http = httpx.Client(base_url=f"{url}/api/v1/pull", headers={"authorization": f"Bearer {token}"}, timeout=120)
    while True:
        told = ask(http, "next", puller=name, wait_s=5)
        if told is None or (told["work"] is None and told["left"]):
            continue
        if told["work"] is None:
            return
        work = told["work"]
        with holding(directory, work):
            time.sleep(seconds)
        ask(http, "finish", puller=name, token=work["token"], result=name, tokens_in=1)


def ask(http: httpx.Client, verb: str, **fields: Any) -> dict[str, Any] | None:
    """None: it was refused, or the dispatcher is away for a moment."""
    try:
        answer = http.post(f"/{verb}", json=fields)
    except httpx.TransportError:
        time.sleep(0.1)
        return None
    if answer.status_code == 409 and verb == "finish":
        return None
    answer.raise_for_status()
    told: dict[str, Any] = answer.json()
    return told


@contextlib.contextmanager
def holding(directory: Path, work: dict[str, Any]) -> Any:
    """Each claim is a file while it is held. An agent that was killed or too slow for its lease holds it no longer."""
    held = [directory / claim.replace(" ", "-") for claim in work["claims"]]
    for path in held:
        with contextlib.suppress(FileNotFoundError, ValueError):
            other = json.loads(path.read_text())
            if os.path.exists(f"/proc/{other['pid']}") and other["until"] > time.time():
                (directory / "overlaps").open("a").write(f"{work['task']} and {other['task']} hold {path.name}\n")
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps({"pid": os.getpid(), "until": work["until"], "task": work["task"]}))
        part.rename(path)
    yield
    for path in held:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]), float(sys.argv[5]))
