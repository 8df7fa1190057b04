"""A program that stands in for Claude Code: it notes what it is told in a file of its task, and may ask a person.

A prompt that has `ask:` makes it ask what follows, and end its turn, unless it is told the answer.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> None:
    told = sys.stdin.read().strip()
    task = os.environ["MANYHANDS_TASK"]
    session = sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else f"session-of-{task}"
    say({"type": "system", "subtype": "init", "session_id": session})
    _, asks, question = os.environ["MANYHANDS_PROMPT"].partition("ask: ")
    if asks and "A person answered:" not in told:
        subprocess.run([*os.environ["MANYHANDS_ASK"].split(), question], check=True, stdout=subprocess.DEVNULL)
        Path(f"{task}.txt").write_text("half\n")
    else:
        with Path(f"{task}.txt").open("a") as file:
            file.write(f"{session} {'resumed' if '--resume' in sys.argv else 'began'}: {' '.join(told.split())}\n")
    say({"type": "assistant", "message": {"content": [{"type": "text", "text": "done"}]}})
    closing = {"type": "result", "subtype": "success", "is_error": False, "result": "done", "permission_denials": []}
    say(closing | {"total_cost_usd": 0.1, "usage": {"input_tokens": 1, "output_tokens": 1}, "session_id": session})


def say(event: dict[str, object]) -> None:
    print(json.dumps(event), flush=True)


main()
