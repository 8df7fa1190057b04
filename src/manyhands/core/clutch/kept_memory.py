"""What a run tells the next one about a host: its width, and the usual work and the memory of its kinds.

It also says when the host turns out not to be as it was remembered.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from manyhands.core.clutch.drift import Noise
from manyhands.core.clutch.launch import Launch
from manyhands.core.clutch.ramp import Ramp
from manyhands.core.clutch.resources import PEAK_SEEN_MIN, Peak
from manyhands.core.clutch.steady import best_level
from manyhands.core.clutch.turns import Turn, UsualWork
from manyhands.core.values.host_memory import HostMemory, KindMemory

if TYPE_CHECKING:
    from manyhands.core.clutch.clutch import Clutch

WORK_SEEN_MIN = 5  # with fewer completions the usual work is unknown
FAR_BELOW_MEMORY = 0.45  # in ln throughput
PROMISE_TURNS = 6  # settled turns without which memory promises no goodput


def memory_of(clutch: "Clutch") -> HostMemory | None:
    """None: it has learned nothing."""
    launch, pacer = clutch.launch, clutch.pacer
    if not launch.done:
        return None
    was_settled = clutch.memory is not None and not clutch.memory.is_open
    is_open = launch.is_on or not (clutch.settled or launch.trouble or was_settled)
    settled = [] if clutch.account.trouble else clutch.settled_widths
    best = None if clutch.settled else best_measured(clutch.history, clutch.noise)
    return HostMemory(
        width=width_to_keep(is_open, launch, clutch.ramp, clutch.target, settled, best),
        turns=len(clutch.settled_widths),
        log_throughput=None if is_open else throughput_to_keep(clutch.history),
        is_open=is_open,
        rate_per_s=pacer.rate_to_keep(),
        rate_s=pacer.known_s,
        burst=pacer.burst_to_keep(),
        kinds=kept_kinds(clutch.usual, clutch.processes.peaks),
        at=clutch.ticked_at or 0.0,
        cores_each=launch.cores_each if launch.looks else 0.0,
        trouble=clutch.account.trouble,
    )


def kept_kinds(usual: Mapping[str, UsualWork], peaks: Mapping[str, Peak]) -> dict[str, KindMemory]:
    return {name: _kept(usual.get(name, UsualWork()), peaks.get(name, Peak())) for name in sorted({*usual, *peaks})}


def _kept(usual: UsualWork, peak: Peak) -> KindMemory:
    knows_work, knows_peak = usual.seen >= WORK_SEEN_MIN, peak.seen >= PEAK_SEEN_MIN
    return KindMemory(
        work=usual.work if knows_work else 0.0,
        seen=usual.seen if knows_work else 0,
        memory_bytes=peak.mean if knows_peak else 0.0,
        memory_spread_bytes=math.sqrt(max(0.0, peak.variance)) if knows_peak else 0.0,
        memory_seen=peak.seen if knows_peak else 0,
    )


def best_measured(turns: list[Turn], noise: Noise) -> float | None:
    """The best width that a search has measured. What it was about to try does not count."""
    return math.exp(best_level(turns, noise.sample_variance)) if turns else None


def throughput_to_keep(turns: Sequence[Turn]) -> float | None:
    """The median of the latest turns, in ln."""
    latest = sorted(turn.log_throughput for turn in turns[-12:])
    return latest[len(latest) // 2] if latest else None


def width_to_keep(
    is_open: bool, launch: Launch, ramp: Ramp, target: float, settled: Sequence[float], best: float | None
) -> float:
    """A width that was in use, not the next one to try: settled, the best measured, or the most without trouble."""
    if is_open and (launch.is_on or ramp.best is None):
        return float(max(1, launch.most, launch.borne))
    if is_open and ramp.best is not None:  # what is being tried beyond it has not shown yet that it pays
        return max(1.0, math.exp(ramp.best.log_width))
    latest = sorted(settled[-25:])
    if latest:
        return latest[len(latest) // 2]
    return max(1.0, best if best is not None else target)


def broken_promise(memory: HostMemory, turn: Turn) -> float:
    """By how much the turn is below what memory promised, in ln throughput; 0 when the promise is kept."""
    if memory.log_throughput is None or memory.turns < PROMISE_TURNS:
        return 0.0
    short = memory.log_throughput - turn.log_throughput
    # A promise holds for the width it was made for. A narrower width rightly achieves less.
    return 0.0 if short < FAR_BELOW_MEMORY or turn.log_width < math.log(0.8 * memory.width) else short
