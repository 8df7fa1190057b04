"""Gauges cap the width both ways, and processes are let in only where their peaks fit."""

import math

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.resources import HeldMemory, MemoryGate
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host_memory import HostMemory, KindMemory
from manyhands.core.values.widths import Reading, Sample

GB = 10**9


def process_reading(at: float, **holds: int) -> Reading:
    attempts = {int(name[1:]): holds[name] for name in holds}
    return Reading(
        at=at,
        source="local",
        memory_total_bytes=10 * GB,
        memory_used_bytes=sum(attempts.values()),
        attempt_bytes=attempts,
        cores=4,
        utilisation=0.9,
    )


def knows_peaks() -> Clutch:
    kind = KindMemory(work=60, seen=12, memory_bytes=3 * GB, memory_spread_bytes=0.1 * GB, memory_seen=30)
    return Clutch.begin(memory=HostMemory(width=8, turns=10, kinds={"build": kind}))


def test_a_process_waits_when_the_expected_peaks_would_not_fit() -> None:
    clutch = knows_peaks()
    clutch.read(process_reading(0.0))
    for attempt in (1, 2):
        assert clutch.start_at(0.0, "build")[0] == 0.0
        clutch.started(0.0, attempt, "build", attempt)
    clutch.read(process_reading(1.0, a1=GB // 5, a2=GB // 5))
    assert clutch.start_at(1.0, "build")[0] == math.inf
    assert clutch.start_at(1.0, "build")[1].startswith("needs 3.0 GB, ")


def test_one_process_alone_is_always_let_in() -> None:
    clutch = knows_peaks()
    clutch.read(process_reading(0.0))
    assert clutch.start_at(0.0, "build", seen_bytes=50 * GB)[0] == 0.0


def test_an_ending_makes_room_again() -> None:
    clutch = knows_peaks()
    clutch.read(process_reading(0.0))
    for attempt in (1, 2):
        clutch.started(0.0, attempt, "build", attempt)
    assert clutch.start_at(1.0, "build")[0] == math.inf
    clutch.observe(Sample(2.0, 0.0, 1, "build", 2, 8, EndingKind.CANCELLED))
    assert clutch.start_at(2.0, "build")[0] == 2.0


def test_a_victim_of_memory_is_let_in_again_with_more_set_aside() -> None:
    clutch = knows_peaks()
    clutch.read(process_reading(0.0))
    clutch.started(0.0, 1, "build", 1)
    assert clutch.start_at(1.0, "build", seen_bytes=0)[0] == 1.0
    assert clutch.start_at(1.0, "build", seen_bytes=6 * GB)[0] == math.inf


def test_memory_held_by_others_is_not_ours_to_fill() -> None:
    clutch = knows_peaks()
    clutch.read(Reading(at=0.0, memory_total_bytes=10 * GB, memory_used_bytes=5 * GB, attempt_bytes={}, cores=4))
    clutch.started(0.0, 1, "build", 1)
    assert clutch.start_at(0.0, "build")[0] == math.inf


def served(at: float, running: int, kv_use: float, waiting: int = 0, preemptions: int = 0) -> Reading:
    return Reading(at=at, running=running, waiting=waiting, kv_use=kv_use, preemptions=preemptions)


def test_kv_headroom_caps_the_width_and_gives_it_back() -> None:
    clutch = Clutch.begin(start=40)
    for second in range(30):
        clutch.read(served(second, running=20, kv_use=0.95))
    assert clutch.width == 20
    assert clutch.reason.startswith("KV cache 95% full with 20 running")
    for second in range(30, 60):
        clutch.read(served(second, running=20, kv_use=0.3))
    assert clutch.width == 40


def test_preemptions_counted_before_we_came_are_not_ours() -> None:
    clutch = Clutch.begin(start=20)
    for second in range(5):
        clutch.read(served(second, running=10, kv_use=0.1, preemptions=5000))
    assert clutch.width == 20


def test_a_server_that_takes_its_device_memory_at_start_up_caps_nothing() -> None:
    clutch = Clutch.begin(start=8)
    clutch.started(0.0, 1, "text", 8)
    for second in range(20):
        clutch.read(Reading(at=second, memory_total_bytes=16 * GB, memory_used_bytes=int(15.6 * GB)))
    assert clutch.width == 16, "twice as many, since nothing shows trouble"


def test_a_device_that_fills_up_with_load_takes_one_less_until_it_has_eased() -> None:
    clutch = Clutch.begin(start=8)
    clutch.read(Reading(at=0.0, memory_total_bytes=16 * GB, memory_used_bytes=4 * GB))
    clutch.started(0.0, 1, "text", 8)
    clutch.read(Reading(at=1.0, memory_total_bytes=16 * GB, memory_used_bytes=int(15.6 * GB)))
    assert clutch.width == 7
    clutch.read(Reading(at=2.0, memory_total_bytes=16 * GB, memory_used_bytes=15 * GB))
    assert clutch.width == 7, "between the marks nothing moves"
    for second in range(3, 40):
        clutch.read(Reading(at=second, memory_total_bytes=16 * GB, memory_used_bytes=8 * GB))
    assert clutch.width > 7


def test_growth_stops_while_the_gauges_are_silent() -> None:
    clutch = Clutch.begin()
    clutch.read(served(0.0, running=4, kv_use=0.1))
    attempt = 0
    for at in range(20, 400, 10):
        clutch.tick(float(at))
        for _ in range(4):
            attempt += 1
            clutch.started(float(at), attempt, "text", 4)
        for number in range(attempt - 3, attempt + 1):
            clutch.observe(Sample(at + 9.0, float(at), number, "text", 4, 4, EndingKind.DONE, tokens_out=100))
    assert clutch.width == 4


def test_a_process_that_grows_slowly_between_two_quick_looks_is_still_growing() -> None:
    held = HeldMemory("k")
    for look in range(80):  # four looks a second
        held.see(look / 4, 400e6 + 20e6 * look / 4)
    expected = held.expected_bytes()
    assert expected is not None
    assert expected > 1.5e9  # at 20 MB a second for the rest of a minute


def test_how_long_attempts_grew_that_have_ended_is_expected_of_the_others() -> None:
    gate = MemoryGate()
    for attempt in (1, 2):
        gate.started(attempt, "k")
        for second in range(11):
            gate.held[attempt].see(float(second), 100e6 + 50e6 * min(second, 4))
    gate.held[1].see(12.0, 300e6)
    gate.started(3, "k")
    for second in range(3):
        gate.held[3].see(20.0 + second, 100e6 + 50e6 * second)
    unknown = gate.held[3].expected_bytes()
    gate.ended(Sample(12.0, 0.0, 1, "k", 2.0, 4, EndingKind.DONE, memory_bytes=300_000_000), done=True, killed=False)
    assert unknown is not None
    assert unknown > 3e9
    assert max(gate.expected_of("k")) < 0.6e9
