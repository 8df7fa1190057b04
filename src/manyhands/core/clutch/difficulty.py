"""How often attempts of a kind succeed on a host, and how wide the lane of that kind may therefore be.

Recent attempts weigh more, and so does a large sample. With much data there are three levels: an easy kind gets the
host's width, a moderate one gets half of it, and a hard one runs one at a time.
"""

import math
from typing import assert_never

from msgspec import Struct

from manyhands.core.values.ending import EndingKind
from manyhands.core.values.widths import Sample

EASY, MODERATE = 0.85, 0.50
#: A kind begins with one success and one failure, so that a single result never decides.
PRIOR_DONE, PRIOR_FAILED = 1.0, 1.0
FADE = 0.97  # the weight that an attempt keeps after the next one, so that about the last 33 count
EXPLORED = 12.0  # from this weight of attempts on, the level alone decides
OVERLOADS_KEPT = 20


class KindRecord(Struct):
    """Attempts of one kind on one host. `done` and `failed` fade with time. The others only count."""

    done: float = 0.0
    failed: float = 0.0
    attempts: int = 0
    took_s: float = 0.0  # means of those done, over the same recent past
    tokens: float = 0.0
    overload_widths: list[int] = []  # the latest
    last_at: float = 0.0

    @property
    def weight(self) -> float:
        return self.done + self.failed

    @property
    def success(self) -> float:
        return (self.done + PRIOR_DONE) / (self.weight + PRIOR_DONE + PRIOR_FAILED)

    @property
    def spread(self) -> float:
        """Standard deviation of the success rate."""
        done, failed = self.done + PRIOR_DONE, self.failed + PRIOR_FAILED
        total = done + failed
        return math.sqrt(done * failed / (total * total * (total + 1)))


class Difficulty(Struct):
    """Of every kind on one host."""

    kinds: dict[str, KindRecord] = {}

    def observe(self, sample: Sample) -> None:
        match sample.ending:
            case EndingKind.FAILED if sample.needs_person:
                pass
            case EndingKind.DONE | EndingKind.FAILED | EndingKind.TIMED_OUT:
                self._learn(sample, sample.ending is EndingKind.DONE)
            case EndingKind.OVERLOADED:
                widths = self._record(sample.kind).overload_widths
                widths.append(sample.width)
                del widths[:-OVERLOADS_KEPT]
            case EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
                pass  # nothing was learned about the work
            case kind:
                assert_never(kind)

    def _learn(self, sample: Sample, done: bool) -> None:
        record = self._record(sample.kind)
        record.attempts += 1
        record.last_at = sample.at
        record.done = FADE * record.done + done
        record.failed = FADE * record.failed + (not done)
        if done:
            share = 1 / min(max(1.0, record.done), 1 / (1 - FADE))
            record.took_s += share * (sample.took_s - record.took_s)
            if sample.tokens:
                record.tokens += share * (sample.tokens - record.tokens)

    def lane_width(self, kind: str, host_width: int) -> tuple[int, str]:
        """The most of this kind at once, and why."""
        record = self.kinds.get(kind)
        if record is None or record.weight < 0.5:
            return host_width, f"nothing is known against {kind or 'this kind'}: as wide as the host"
        level, part = _level(record)
        width = max(1, min(host_width, math.ceil(host_width * part)))
        seen = f"{record.done:.0f} of {record.weight:.0f} recent attempts went well"
        return width, f"{level}: {seen}"

    def _record(self, kind: str) -> KindRecord:
        record = self.kinds.get(kind)
        if record is None:
            record = self.kinds[kind] = KindRecord()
        return record


def _level(record: KindRecord) -> tuple[str, float]:
    # With few attempts the wider level gets the benefit of the doubt: a wide lane learns faster, and each failure costs
    # only one attempt.
    likely = record.success + (record.spread if record.weight < EXPLORED else 0.0)
    if likely >= EASY:
        return "easy", 1.0
    if likely >= MODERATE:
        return "moderate", 0.5
    return "hard", 0.0


def faded(difficulty: Difficulty, days: float) -> Difficulty:
    """The difficulty that the next run starts from. Its weight halves every two weeks."""
    keep = 0.5 ** (max(0.0, days) / 14)
    kinds = {
        name: KindRecord(
            done=keep * record.done,
            failed=keep * record.failed,
            attempts=record.attempts,
            took_s=record.took_s,
            tokens=record.tokens,
            overload_widths=list(record.overload_widths),
            last_at=record.last_at,
        )
        for name, record in difficulty.kinds.items()
    }
    return Difficulty(kinds)
