"""A stand-in for `bd`: the commands we use, over a JSONL file it calls its database, with faults on demand.

Run as a program. `faults` beside the database has a word a line, used up one by a command that writes:
`drop` says yes and writes nothing, `fail` says no, `late` writes and says no, `hang` never answers,
`drop-notes` and `steal` do the wrong thing. `envelope` beside it makes answers come in one.
`calls` records every command.
"""

import fcntl
import json
import os
import sys
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent


def load():
    return {row["id"]: row for row in map(json.loads, (HOME / "database").read_text().splitlines())}


def save(rows):
    (HOME / "database").write_text("".join(json.dumps(row) + "\n" for row in rows.values()))


def next_fault():
    file = HOME / "faults"
    left = file.read_text().split() if file.exists() else []
    if left:
        file.write_text("\n".join(left[1:]))
    return left[0] if left else ""


def answer(value):
    print(json.dumps({"schema_version": 1, "data": value} if (HOME / "envelope").exists() else value))


def refuse(text):
    print(f"Error: {text}", file=sys.stderr)
    sys.exit(1)


def update(row, options, me, fault):
    notes = [each.removeprefix("--append-notes=") for each in options if each.startswith("--append-notes=")]
    for each in notes:
        if fault != "drop-notes":
            row["notes"] = f"{row['notes']}\n{each}" if row.get("notes") else each
    if "--claim" in options:
        if row["status"] != "open" or row.get("assignee", "") not in ("", me):
            refuse(f"already claimed by {row.get('assignee')}")
        row.update(status="in_progress", assignee="thief" if fault == "steal" else me)
    for each in options:
        if each.startswith("--assignee="):
            row["assignee"] = each.removeprefix("--assignee=")
        if each.startswith("--defer="):
            row["defer_until"] = each.removeprefix("--defer=")
    if "-s" in options:
        row["status"] = options[options.index("-s") + 1]


def close(row, options):
    if row["status"] == "pinned":
        refuse("cannot close a pinned issue")
    reason = next(each.removeprefix("--reason=") for each in options if each.startswith("--reason="))
    row.update(status="closed", close_reason=reason, closed_at="2026-06-01T00:00:00Z")


def main(verb, *options):
    lock = os.open(HOME / "calls", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        # Two commands at once are what the real one has been seen to lose writes by.
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        refuse("two commands at once")
    os.write(lock, (json.dumps([verb, *options]) + "\n").encode())
    rows = load()
    me = os.environ.get("BD_ACTOR", "someone")
    if verb == "export":
        Path(options[options.index("-o") + 1]).write_text((HOME / "database").read_text())
        return
    if options[0] not in rows:
        refuse(f"no issue found: {options[0]}")
    row = rows[options[0]]
    if verb == "show":
        answer([row | {"dependencies": [{"id": "other", "dependency_type": "blocks"}]}])
        return
    fault = next_fault()
    if fault == "hang":
        time.sleep(3600)
    if fault == "fail":
        refuse("database is locked")
    if verb == "update":
        update(row, options[1:], me, fault)
    elif verb == "close":
        close(row, options[1:])
    row["updated_at"] = f"2026-06-01T00:00:00.{time.time_ns() % 10**9:09d}Z"
    if fault != "drop":
        save(rows)
    if fault == "late":
        refuse("connection lost")
    print(f"✓ Updated issue: {row['id']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
