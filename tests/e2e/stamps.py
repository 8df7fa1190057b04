"""Tasks that write down themselves when they ran, and what their time stamps say."""

from pathlib import Path

#: Shell: `begin` and `end` around what a task does. The stamps are the task's own, not the dispatcher's.
BEGIN = 'echo "begin $MANYHANDS_TASK $(date +%s%N)" >> stamps.txt'
END = 'echo "end $MANYHANDS_TASK $(date +%s%N)" >> stamps.txt'


def stamps(directory: Path) -> list[tuple[int, str, str]]:
    """(when, begin or end, task), in the order of time."""
    lines = [line.split() for line in (directory / "stamps.txt").read_text().splitlines()]
    return sorted((int(at), what, task) for what, task, at in lines)


def peak(directory: Path, only: str = "") -> int:
    """The most tasks (whose name begins so) that were at it at once."""
    now = most = 0
    for _, what, task in stamps(directory):
        if task.startswith(only):
            now += 1 if what == "begin" else -1
            most = max(most, now)
    return most


def order(directory: Path) -> list[str]:
    """The tasks in the order in which they began."""
    return [task for _, what, task in stamps(directory) if what == "begin"]


def overlapped(directory: Path, one: str, other: str) -> bool:
    spans: dict[str, list[int]] = {one: [], other: []}
    for at, _, task in stamps(directory):
        if task in spans:
            spans[task].append(at)
    return spans[one][0] < spans[other][1] and spans[other][0] < spans[one][1]
