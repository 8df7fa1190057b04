"""What a run tells the next one about the kinds of a host: their usual work and the memory they take."""

import math
from collections.abc import Mapping

from manyhands.core.clutch.resources import PEAK_SEEN_MIN, Peak
from manyhands.core.clutch.turns import Usual
from manyhands.core.values.host_memory import KindMemory

WORK_SEEN_MIN = 5  # with fewer completions the usual work is unknown


def kept_kinds(usual: Mapping[str, Usual], peaks: Mapping[str, Peak]) -> dict[str, KindMemory]:
    return {name: _kept(usual.get(name, Usual()), peaks.get(name, Peak())) for name in sorted({*usual, *peaks})}


def _kept(usual: Usual, peak: Peak) -> KindMemory:
    knows_work, knows_peak = usual.seen >= WORK_SEEN_MIN, peak.seen >= PEAK_SEEN_MIN
    return KindMemory(
        work=usual.work if knows_work else 0.0,
        seen=usual.seen if knows_work else 0,
        memory_bytes=peak.mean if knows_peak else 0.0,
        memory_spread_bytes=math.sqrt(max(0.0, peak.variance)) if knows_peak else 0.0,
        memory_seen=peak.seen if knows_peak else 0,
    )
