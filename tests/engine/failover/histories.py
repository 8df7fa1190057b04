"""Is a log that several processes write and read at once linearizable? Each operation knows when it began and ended.

Times are of the machine's monotonic clock, which all its processes share.
"""

from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import NamedTuple


class Write(NamedTuple):
    value: str
    began: float
    acknowledged: float = inf  # never, as far as anyone knows: it may have happened or not


class Read(NamedTuple):
    seen: Sequence[str]
    began: float
    ended: float


def faults_of(log: Sequence[str], writes: Sequence[Write], reads: Sequence[Read] = ()) -> list[str]:
    """What no order of the operations explains, given the log as it was in the end. Empty: it is linearizable."""
    write_of = {write.value: write for write in writes}
    times = Counter(log)
    wrong = [f"`{value}` was acknowledged and is not there" for value in _acknowledged(writes) if not times[value]]
    wrong += [f"`{value}` is there {n} times" for value, n in times.items() if n > 1]
    wrong += [f"`{value}` is there, and nobody wrote it" for value in times if value not in write_of]
    if wrong:
        return wrong
    latest: Write | None = None  # of those so far, the one that began last
    for value in log:
        write = write_of[value]
        if latest is not None and write.acknowledged < latest.began:
            wrong.append(f"`{value}` was acknowledged before `{latest.value}` began, and comes after it")
        if latest is None or write.began > latest.began:
            latest = write
    return wrong + _faults_of_reads(log, write_of, reads)


def _acknowledged(writes: Sequence[Write]) -> list[str]:
    return [write.value for write in writes if write.acknowledged < inf]


def _faults_of_reads(log: Sequence[str], write_of: dict[str, Write], reads: Sequence[Read]) -> list[str]:
    wrong: list[str] = []
    for read in reads:
        size = len(read.seen)
        if [*read.seen] != [*log[:size]]:
            wrong.append(f"a read saw {size} entries that are not the beginning of the log")
        missed = [value for value in log[size:] if write_of[value].acknowledged < read.began]
        wrong += [f"a read missed `{value}`, which was acknowledged before" for value in missed]
        early = [value for value in read.seen if value in write_of and write_of[value].began > read.ended]
        wrong += [f"a read saw `{value}` before it was written" for value in early]
    ends = sorted((read.ended, len(read.seen)) for read in reads)
    for read in reads:
        before = max((size for ended, size in ends if ended < read.began), default=0)
        if len(read.seen) < before:
            wrong.append(f"a read saw {len(read.seen)} entries, and one that ended before it began saw {before}")
    return wrong


def blocks_of(log: Sequence[str]) -> list[str]:
    """Who wrote, in turns. An entry is `writer:number`. With one leader at a time each has one turn."""
    writers: list[str] = []
    for value in log:
        writer = value.partition(":")[0]
        if not writers or writers[-1] != writer:
            writers.append(writer)
    return writers
