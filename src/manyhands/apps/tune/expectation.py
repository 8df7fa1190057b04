"""How long a backlog would take on a host that was measured: with nothing known, with memory, and at one fixed width.

The scheduler plays it in virtual time on a host that gets done what was measured at each width.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from manyhands.apps.tune.width_figures import MeasuredWidth
from manyhands.core.values.host import COMMANDS, SERVICE, Host, nature_of
from manyhands.engine.sim.backlog_trial import BacklogRun, best_fixed_s, play
from manyhands.engine.sim.hosts.measured_host import Measured
from manyhands.engine.sim.hosts.reference import HostModel

#: z of the 95th percentile of a log-normal distribution.
P95 = 1.645
SPREAD_MIN, SPREAD_MAX = 0.05, 1.0


class Expectation(Struct, frozen=True):
    tasks: int
    cold_s: float
    with_memory_s: float
    best_fixed_s: float
    best_width: int


def expectation(host: Host, steps: Sequence[MeasuredWidth], tasks: int, cores: int) -> Expectation | None:
    """None: too little was measured to say."""
    sound = [step for step in steps if step.goodput_per_s > 0 and not step.overloads]
    if not sound or not tasks:
        return None
    refused = [step.width for step in steps if step.overloads and not step.rate_limited]
    first, nature = sound[0], nature_of(host)
    spread = math.log(max(1.0, first.p95_s / first.p50_s)) / P95 if first.p50_s > 0 else SPREAD_MIN
    parameters = Measured(
        tuple((step.width, step.goodput_per_s) for step in sound),
        refuses_above=max(1, min(refused) - 1) if refused else 0,
        seconds_sigma=min(SPREAD_MAX, max(SPREAD_MIN, spread)),
        cores=cores if nature == COMMANDS else 0,
        shows_output=nature == SERVICE,
    )
    most = host.width.max or max(64, 2 * sound[-1].width)
    model = HostModel(host.name, parameters, 0.0, width_max=most, of_nature=nature)
    earlier, backlog = (BacklogRun(model, tasks, seed=1, number=number) for number in range(2))
    cold_s = play([backlog], rate=host.rate)[0].seconds
    with_memory_s = play([earlier, backlog], rate=host.rate)[1].seconds
    return Expectation(tasks, cold_s, with_memory_s, *best_fixed_s(backlog))
