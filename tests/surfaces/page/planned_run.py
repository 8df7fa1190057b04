"""A made-up run in mid-flight, or over: tasks with needs, epics, claims and costs on two hosts, as a recording."""

import random
from typing import Any

Row = dict[str, Any]
OPENED_AT = 1_763_200_000.0
KINDS = ("build", "code", "review", "text")
_TASK = ("run", "task", "title", "kind", "state", "priority", "parent", "needs", "since", "cause", "claims")
_BAR = ("attempt", "run", "task", "kind", "host", "slot", "queued_at", "started_at", "ended_at", "ending", "number")
_BAR += ("of", "tokens", "cost", "claims")


def planned_run(tasks: int = 60, share: float = 0.6, hosts: int = 2, width: int = 4) -> Row:
    """`share` of it has passed; 1: all of it."""
    chance = random.Random(1)
    rows = [_task(n, tasks, chance) for n in range(tasks)]
    bars = _worked_off(rows, hosts, width, chance)
    last = max(bar["ended_at"] for bar in bars)
    now = last if share >= 1 else OPENED_AT + (last - OPENED_AT) * share
    begun = [_until(bar, now) for bar in bars if bar["started_at"] < now]
    _settle(rows, begun, now)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["state"]] = counts.get(row["state"], 0) + 1
    moves = [_move(n, OPENED_AT + (now - OPENED_AT) * n / 13, hosts) for n in range(12)]
    snapshot = {
        "seq": len(begun),
        "at": now,
        "version": "0",
        "command": False,
        "runs": [_run(counts, tasks, now if share >= 1 else None, hosts * width)],
        "hosts": [_host(n, width) for n in range(hosts)],
        "tasks": _columns(rows, _TASK),
        "bars": _columns(begun, _BAR),
        "widths": moves,
        "widths_total": len(moves),
        "idle": [],
        "claims": [],
        "waiting": {"oldest_s": 3, "ready": counts.get("ready", 0)},
        "gauges": [_gauge(n, now, hosts) for n in range(120)],
    }
    return {"run": "night", "snapshot": snapshot, "frames": []}


def _task(n: int, tasks: int, chance: random.Random) -> Row:
    near = [
        f"task-{chance.randrange(max(0, n - tasks // 4), n)}"
        for _ in range(chance.choice((0, 1, 1, 2)) if n > 4 else 0)
    ]
    claims = [f"write src/part_{n % 9}.py"] if n % 3 == 0 else []
    told = {"run": "night", "task": f"task-{n}", "title": f"Look at part {n}", "kind": KINDS[n % len(KINDS)]}
    return {**told, "priority": 2, "parent": f"epic-{n * 8 // tasks}", "needs": sorted(set(near)), "claims": claims}


def _worked_off(rows: list[Row], hosts: int, width: int, chance: random.Random) -> list[Row]:
    free = [(OPENED_AT, host, slot) for host in range(hosts) for slot in range(width)]
    ended: dict[str, float] = {}
    bad: set[str] = set()
    bars: list[Row] = []
    for n, row in enumerate(rows):
        if n % 17 == 11 or bad & set(row["needs"]):
            bad.add(row["task"])
        if bad & set(row["needs"]):
            continue
        ready_at = max([ended[need] for need in row["needs"]] + [OPENED_AT])
        free.sort()
        free_at, host, slot = free.pop(0)
        start = max(free_at, ready_at)
        end = ended[row["task"]] = start + chance.uniform(2, 20)
        free.append((end, host, slot))
        told = {name: row[name] for name in ("run", "task", "kind", "claims")}
        place = {"attempt": n + 1, "host": f"host-{host}", "slot": slot, "number": 1, "of": 3}
        times = {"queued_at": ready_at, "started_at": start, "ended_at": end}
        used = {
            "ending": "failed" if n % 17 == 11 else "done",
            "tokens": chance.randrange(200, 5000),
            "cost": chance.uniform(0.01, 0.2),
        }
        bars.append({**told, **place, **times, **used})
    return bars


def _until(bar: Row, now: float) -> Row:
    return bar if bar["ended_at"] <= now else {**bar, "ended_at": None, "ending": "", "tokens": 0, "cost": None}


def _settle(rows: list[Row], bars: list[Row], now: float) -> None:
    """The state of every task, as its attempts and needs leave it."""
    states = {bar["task"]: bar["ending"] or "running" for bar in bars}
    for row in rows:
        needed = {states[need] for need in row["needs"]}
        waits = "skipped" if needed & {"failed", "skipped"} else "blocked" if needed - {"done"} else "ready"
        row["state"] = states.setdefault(row["task"], waits)
        row["since"] = now - 3
        row["cause"] = {"failed": "exit code 3", "skipped": "a task that it needs failed"}.get(row["state"], "")


def _columns(rows: list[Row], names: tuple[str, ...]) -> Row:
    return {"total": len(rows), "shown": len(rows), **{name: [row[name] for row in rows] for name in names}}


def _run(counts: dict[str, int], total: int, ended_at: float | None, peak: int) -> Row:
    times = {"opened_at": OPENED_AT, "ended_at": ended_at}
    told = {"run": "night", "source": "night.toml", "concurrency": None, "draining": False}
    return {**told, **times, "counts": counts, "total": total, "peak": peak}


def _host(n: int, width: int) -> Row:
    lane = {"width": None, "why": "", "in_flight": 1, "success": 0.9, "usual_s": 11.0, "p90_s": 19.0}
    told = {"host": f"host-{n}", "kinds": ["*"], "width": width, "pinned": None, "why": "a clean window", "ceiling": 8}
    return {**told, "paused": None, "paused_until": None, "lanes": [{"kind": kind, **lane} for kind in KINDS]}


def _move(n: int, at: float, hosts: int) -> Row:
    width = 2 + n % 4
    reason = "12 of 12 went well" if n % 4 else "refused with 429"
    return {
        "at": at,
        "host": f"host-{n % hosts}",
        "kind": "",
        "was": max(1, width - 1),
        "width": width,
        "reason": reason,
    }


def _gauge(n: int, now: float, hosts: int) -> Row:
    used = (6 + n % hosts + 0.2 * (n % 7)) * 2**30
    at = OPENED_AT + (now - OPENED_AT) * n / 120
    return {"host": f"host-{n % hosts}", "at": at, "memory_used_bytes": used, "memory_total_bytes": 16 * 2**30}
