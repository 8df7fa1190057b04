"""A program that stands in for a coding agent: it makes small real changes, and prints what agents print.

It is started by its path and uses the standard library only, because it is started many times. Its only argument
multiplies how long everything takes. The prompt comes by its standard input.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

SESSION = "5e551017-0000-4000-8000-000000000007"
_TYPES = {"prices": "list[float]", "names": "list[str]", "price": "float", "rate": "float", "percent": "int"}
_TYPES |= {"quantity": "int", "name": "str", "text": "str", "weight": "float"}


def main() -> int:
    pace = float(sys.argv[1])
    prompt = sys.stdin.read()
    task = os.environ.get("MANYHANDS_TASK", "")
    told = os.environ.get("MANYHANDS_LAST_OUTPUT", "")
    file = Path(next(iter(re.findall(r"\b[\w/]+\.(?:py|md)\b", prompt)), "NOTES.md"))
    _print({"type": "system", "subtype": "init", "session_id": SESSION})
    if told:
        _say(f"The check did not pass: {_gist(told)}. I will fix that.")
    else:
        _say(f"I will look at {file} first.")
    _pause(pace, task, 1)
    _tool("Read", file)
    _pause(pace, task, 2)
    _say(_thought(task, bool(told)))
    _pause(pace, task, 3)
    _change(task, file, bool(told))
    _tool("Edit", file)
    _pause(pace, task, 4)
    _say(f"Done: {prompt.splitlines()[0].rstrip('.')[:60] if prompt else task}.")
    _close(task)
    return 0


def _gist(output: str) -> str:
    """The line of a failed check that says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if "Error" in line]
    return lines[-1][:80] if lines else "it gave no reason"


def _thought(task: str, is_told: bool) -> str:
    if task.startswith("hints-"):
        return "The functions are short. Types follow from their names."
    if task == "fix-discount":
        return "Half a cent must go down, so I divide whole cents." if is_told else "round() should be enough here."
    return "I know what to write."


def _change(task: str, file: Path, is_told: bool) -> None:
    text = file.read_text() if file.exists() else ""
    if task.startswith("hints-"):
        text = re.sub(r"def (\w+)\(([^)]*)\):", _hinted, text)
    elif task == "fix-discount":
        # `round` takes half a cent to the nearest even one, so the first try fails its check.
        wrong = "    return round(cents * (100 - percent) / 100)\n"
        right = "    return cents * (100 - percent) // 100\n"
        text = re.sub(r"    return .*\n", right if is_told else wrong, text)
    else:
        text += _ADDED.get(task, "\nA line from an agent.\n")
    file.write_text(text)


_ADDED = {
    "readme-usage": "\n## Usage\n\n    from shop.cart import total\n",
    "readme-install": "\n## Install\n\n    pip install corner-shop\n",
    "release": "# Changes\n\n- Type hints everywhere.\n- Discounts are rounded down.\n",
}


def _hinted(found: re.Match[str]) -> str:
    names = [name.strip() for name in found[2].split(",") if name.strip()]
    returns = "str" if any(name in ("name", "names", "text") for name in names) else "float"
    hinted = ", ".join(f"{name}: {_TYPES.get(name, 'float')}" for name in names)
    return f"def {found[1]}({hinted}) -> {returns}:"


def _pause(pace: float, task: str, step: int) -> None:
    """Between 1.2 and 2.1 seconds, not the same for any two tasks, and the same on every machine."""
    drawn = sum(map(ord, task)) * 7 + step * 31
    time.sleep(pace * (1.2 + drawn % 10 * 0.1))


def _say(text: str) -> None:
    _print({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})


def _tool(name: str, file: Path) -> None:
    part = {"type": "tool_use", "name": name, "input": {"file_path": str(file)}}
    _print({"type": "assistant", "message": {"content": [part]}})


def _close(task: str) -> None:
    words = 400 + sum(map(ord, task)) % 300
    _print(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "done",
            "total_cost_usd": round(words / 10_000, 4),
            "usage": {"input_tokens": 9 * words, "output_tokens": words},
            "permission_denials": [],
        }
    )


def _print(event: dict[str, object]) -> None:
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    sys.exit(main())
