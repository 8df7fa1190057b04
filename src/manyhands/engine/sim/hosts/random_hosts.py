"""Hosts that nobody has tuned for: parameters are drawn from wide ranges, for one kind of host after the other."""

import math
from random import Random

from manyhands.engine.sim.hosts.agents_host import Agents, AgentShare
from manyhands.engine.sim.hosts.api_host import Api, CallShare
from manyhands.engine.sim.hosts.batching_host import Batching, TokenShare
from manyhands.engine.sim.hosts.process_host import Processes, ProcessShare
from manyhands.engine.sim.hosts.reference import HostModel
from manyhands.engine.sim.hosts.slot_host import SizeShare, Slots


def random_host(seed: int) -> HostModel:
    random = Random(seed * 7919 + 17)
    family = (_batching, _api, _processes, _slots)[seed % 4]
    return family(seed, random)


def _between(random: Random, low: float, high: float) -> float:
    """Evenly spread over the logarithm: hosts differ by factors."""
    return math.exp(random.uniform(math.log(low), math.log(high)))


def _shares(random: Random, most: int) -> list[float]:
    parts = [random.uniform(0.2, 1.0) for _ in range(random.randint(1, most))]
    return [part / sum(parts) for part in parts]


def _batching(seed: int, random: Random) -> HostModel:
    mix = tuple(
        TokenShare(f"kind{number}", share, _between(random, 400, 8000), _between(random, 80, 800))
        for number, share in enumerate(_shares(random, 3))
    )
    changes: tuple[tuple[float, float], ...] = ()
    if random.random() < 0.25:
        from_s = random.uniform(400, 900)
        changes = ((from_s, random.uniform(0.4, 0.8)), (from_s + random.uniform(300, 700), 1.0))
    parameters = Batching(
        mix,
        step_s=_between(random, 0.008, 0.05),
        step_per_sequence_s=_between(random, 0.0003, 0.003),
        cache_tokens=_between(random, 80_000, 800_000),
        prefill_per_s=_between(random, 3000, 20_000),
        prefix_hits=random.uniform(0.3, 0.9),
        thrash=random.uniform(0.2, 0.6),
        prompt_sigma=random.uniform(0.2, 0.7),
        answer_sigma=random.uniform(0.3, 0.8),
        capacity=changes,
        shows_metrics=random.random() < 0.75,
    )
    return HostModel(f"batching-{seed}", parameters, 1800)


def _api(seed: int, random: Random) -> HostModel:
    mix = tuple(
        CallShare(f"kind{number}", share, _between(random, 300, 5000))
        for number, share in enumerate(_shares(random, 3))
    )
    tokens = sum(each.share * each.tokens for each in mix)
    per_minute = _between(random, 60, 600)
    parameters = Api(
        mix,
        requests_per_minute=per_minute,
        tokens_per_minute=per_minute * tokens * random.uniform(0.6, 1.6),
        requests_burst=max(2.0, per_minute * random.uniform(0.05, 0.5)),
        tokens_burst=max(4 * tokens, per_minute * tokens * random.uniform(0.05, 0.5)),
        latency_s=_between(random, 3, 25),
        latency_tokens=tokens,
        tokens_sigma=random.uniform(0.3, 0.7),
        latency_sigma=random.uniform(0.2, 0.6),
        refusal_cost=random.choice((0.0, 0.25, 1.0)),
    )
    return HostModel(f"api-{seed}", parameters, 1800)


def _processes(seed: int, random: Random) -> HostModel:
    cores = random.choice((2, 4, 8, 12))
    mix = tuple(
        ProcessShare(
            f"kind{number}", share, _between(random, 25, 160), _between(random, 0.4, 2.5), random.uniform(0.2, 0.8)
        )
        for number, share in enumerate(_shares(random, 3))
    )
    parameters = Processes(
        mix,
        cores=cores,
        memory_gb=cores * _between(random, 1.5, 6),
        seconds_sigma=random.uniform(0.3, 0.7),
        memory_sigma=random.uniform(0.2, 0.5),
    )
    return HostModel(f"processes-{seed}", parameters, 7200, width_max=64)


def _slots(seed: int, random: Random) -> HostModel:
    slots = round(_between(random, 2, 40))
    shares = _shares(random, 2)
    mix = [SizeShare(f"kind{number}", 0.97 * share, _between(random, 2, 25)) for number, share in enumerate(shares)]
    mix.append(SizeShare("long", 0.03, _between(random, 50, 150)))
    changes: tuple[tuple[float, int], ...] = ()
    if random.random() < 0.2:
        from_s = random.uniform(500, 900)
        changes = ((from_s, max(1, slots // 2)), (from_s + random.uniform(300, 600), slots))
    parameters = Slots(
        tuple(mix),
        slots=slots,
        queue_max=round(slots * _between(random, 0.5, 4)),
        slowdown=_between(random, 0.001, 0.02),
        noise_sigma=random.uniform(0.2, 0.7),
        size_sigma=random.uniform(0.3, 0.7),
        errors=random.uniform(0, 0.04),
        changes=changes,
    )
    return HostModel(f"slots-{seed}", parameters, 1800)


def random_agents(seed: int, sessions_end: bool = False, closes: bool = False) -> HostModel:
    """Agents on an account that stays open, that ends sessions above a number, or that closes for hours."""
    random = Random(seed * 7919 + 71)
    mix = tuple(
        AgentShare(f"kind{number}", share, _between(random, 150, 800))
        for number, share in enumerate(_shares(random, 3))
    )
    tokens = _between(random, 5000, 60_000)
    calls_per_minute = _between(random, 8, 150)
    parameters = Agents(
        mix,
        cores=random.choice((2, 4, 8, 16)),
        agent_gb=_between(random, 0.2, 1.0),
        turn_s=_between(random, 15, 60),
        thinking=random.uniform(0.5, 0.9),
        turn_tokens=tokens,
        requests_per_minute=calls_per_minute * random.uniform(0.8, 2.0),
        tokens_per_minute=calls_per_minute * tokens,
        saved_s=_between(random, 10, 120),
        sessions_max=round(_between(random, 3, 24)) if sessions_end else 0,
        quota_tokens=tokens * _between(random, 150, 2000) if closes else 0.0,
        quota_window_s=_between(random, 1200, 5 * 3600),
        seconds_sigma=random.uniform(0.4, 0.8),
    )
    return HostModel(f"agents-{seed}", parameters, 14_400, width_max=64)
