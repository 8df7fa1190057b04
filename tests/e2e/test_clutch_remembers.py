"""What one run finds, the next one starts from, and the journal says so."""

from manyhands.core.events import HostsConfigured, WidthMoved
from manyhands.engine.store.sqlite.sqlite_store import open_reader
from surfaces.cli.console import Console

#: More than six at once gain nothing: the others wait for their turn.
WORK = """\
import asyncio
turn = asyncio.Semaphore(6)

async def work():
    async with turn:
        await asyncio.sleep(0.03)
"""


def moves(console: Console) -> list[list[WidthMoved]]:
    """Of the host as a whole, for each time the hosts were configured: once for each command that ran."""
    sessions: list[list[WidthMoved]] = []
    reader = open_reader(console.store)
    try:
        for _, event in reader.read():
            if isinstance(event, HostsConfigured):
                sessions.append([])
            elif isinstance(event, WidthMoved) and not event.kind:
                sessions[-1].append(event)
    finally:
        reader.close()
    return sessions


def test_a_second_run_of_the_same_backlog_starts_where_the_first_one_settled(console: Console) -> None:
    console.config('[hosts.py]\ntype = "python"\n')
    console.write("work.py", WORK)
    console.plan([{"id": f"t{n}", "kind": "nap", "call": "work:work"} for n in range(240)])
    for again in ((), ("--again",)):
        done = console.run("run", "plan.jsonl", *again)
        assert done.code == 0, done.err
    first, second = moves(console)
    assert (first[0].was, first[0].reason) == (0, "where a new host begins")
    assert len(first) > 1, "the first run never moved"
    memory = console.run("memory", "--output", "json").json
    assert [row["lane"] for row in memory] == ["nap@py"]
    start = second[0]
    settled = int(start.reason.removeprefix("an earlier run settled at "))
    assert start.was == 0
    assert 0.85 * settled <= start.width <= settled
    assert settled > first[0].width
    widths = [move.width for move in first]
    assert min(widths) <= settled <= max(widths)
