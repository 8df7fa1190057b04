"""What moves a width, what does not, and that it says why."""

import msgspec
import pytest

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.clutch.limit_choice import AnyLimit, limit_for
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import COMMANDS, SERVICE, Host, Width
from manyhands.core.values.host_memory import HostMemory, KindMemory, merged
from manyhands.core.values.widths import Limit, Reading, Sample
from manyhands.engine.sim.backlog_trial import BacklogRun, play
from manyhands.engine.sim.drive import Drive
from manyhands.engine.sim.hosts.random_hosts import random_host
from manyhands.engine.sim.hosts.reference import API, BATCHING, PROCESSES, SLOTS, HostModel, build
from manyhands.engine.sim.rival_limits.aimd import Aimd
from manyhands.engine.sim.rival_limits.gradient2 import Gradient2
from manyhands.engine.sim.rival_limits.inspect_rule import InspectRule
from manyhands.engine.sim.rival_limits.vegas import Vegas


def sample(at: float, attempt: int, ending: EndingKind, took_s: float = 5.0, in_flight: float = 8) -> Sample:
    return Sample(at, at - took_s, attempt, "text", in_flight, 8, ending)


def busy(start: int = 8) -> Clutch:
    clutch = Clutch.begin(start=start)
    for attempt in range(start):
        clutch.started(0.0, attempt, "text", attempt + 1)
    return clutch


def test_one_overload_that_fells_many_attempts_cuts_once() -> None:
    clutch = busy()
    for attempt in range(8):
        clutch.observe(sample(5.0 + attempt * 0.1, attempt, EndingKind.OVERLOADED))
    assert clutch.width == 6
    assert clutch.reason == "an attempt was refused for load at width 8"


def test_a_host_on_which_nothing_succeeds_is_down_and_is_not_cut_again_and_again() -> None:
    clutch = busy()
    for attempt in range(500):
        clutch.observe(sample(5.0 + attempt, attempt, EndingKind.OVERLOADED))
    assert clutch.width == 6


def test_attempts_that_are_refused_and_ask_again_cut_once_before_any_of_them_ends() -> None:
    clutch = busy()
    for number in range(8):
        clutch.read(Reading(5.0 + number * 0.1, "retries", asked_again=1))
    assert clutch.width == 6
    assert clutch.reason == "an attempt was refused and asks again at width 8"


def test_a_refused_connection_is_not_load() -> None:
    clutch = busy()
    for attempt in range(8):
        clutch.observe(msgspec.structs.replace(sample(5.0, attempt, EndingKind.OVERLOADED), unreachable=True))
    assert clutch.width == 8
    assert "refused" not in clutch.reason


@pytest.mark.parametrize("ending", [EndingKind.FAILED, EndingKind.CANCELLED, EndingKind.PREEMPTED, EndingKind.LOST])
def test_endings_that_are_not_signs_of_load_move_nothing(ending: EndingKind) -> None:
    clutch = busy()
    for attempt in range(200):
        clutch.observe(sample(5.0 + attempt, attempt, ending))
    assert clutch.width == 8


def test_a_width_that_is_never_filled_does_not_grow() -> None:
    clutch, attempt = Clutch.begin(start=8), 0
    for at in range(0, 2000, 5):
        clutch.tick(float(at))
        for number in (1, 2):
            attempt += 1
            clutch.started(float(at), attempt, "text", number)
        for number in (attempt - 1, attempt):
            clutch.observe(sample(at + 5.0, number, EndingKind.DONE, in_flight=2))
    assert clutch.width <= 8


def test_a_second_run_starts_near_the_width_the_first_one_found_and_says_so() -> None:
    clutch = Clutch.begin(memory=HostMemory(width=40.0, turns=20, log_throughput=6.0))
    assert clutch.width == 40
    assert clutch.reason == "an earlier run settled at 40"


@pytest.mark.parametrize("model", [BATCHING, API, PROCESSES, SLOTS], ids=lambda model: model.name)
def test_every_move_has_a_reason_and_stays_within_the_bounds(model: HostModel) -> None:
    clutch = Clutch.begin(width_min=2, width_max=20)
    outcome = Drive(build(model.parameters), clutch, 1, 600, trace=True).run()
    assert outcome.moves
    for _, width, reason in outcome.moves:
        assert 2 <= width <= 20 or "KV cache" in reason or "waiting" in reason
        assert reason


@pytest.mark.parametrize("model", [BATCHING, API, PROCESSES, SLOTS], ids=lambda model: model.name)
def test_a_clutch_restored_from_its_snapshot_goes_on_as_if_nothing_had_happened(model: HostModel) -> None:
    class Restoring:
        """Passes everything on to a clutch that is encoded and decoded every few samples."""

        def __init__(self) -> None:
            self.clutch, self.seen = Clutch.begin(), 0

        def __getattr__(self, name: str) -> object:
            return getattr(self.clutch, name)

        def observe(self, each: Sample) -> None:
            self.clutch.observe(each)
            self.seen += 1
            if self.seen % 7 == 0:
                restored = msgspec.json.decode(msgspec.json.encode(self.clutch), type=AnyLimit)
                assert isinstance(restored, Clutch)
                self.clutch = restored

    plain = Drive(build(model.parameters), Clutch.begin(), 2, 500, trace=True).run()
    restored = Drive(build(model.parameters), Restoring(), 2, 500, trace=True).run()
    assert restored.moves == plain.moves
    assert restored.work == plain.work


@pytest.mark.parametrize("limit", [Fixed(3), Aimd(), Vegas(), Gradient2(), InspectRule(), Clutch.begin()])
def test_every_limit_is_its_own_snapshot(limit: Limit) -> None:
    assert msgspec.json.decode(msgspec.json.encode(limit), type=type(limit)) == limit


def test_a_pinned_width_is_fixed_and_any_other_is_the_clutch_within_its_bounds() -> None:
    assert limit_for(Host("a", width=Width(min=3, max=3))) == Fixed(3)
    clutch = limit_for(Host("a", width=Width(min=2, start=5, max=9)))
    assert isinstance(clutch, Clutch)
    assert (clutch.width_min, clutch.width, clutch.width_max) == (2, 5, 9)


def test_memory_of_a_run_that_never_settled_does_not_replace_one_that_did() -> None:
    settled = HostMemory(width=30, turns=12, kinds={"text": KindMemory(work=200, seen=12)}, rate_per_s=3.0)
    cut_short = HostMemory(width=8, turns=0, kinds={"code": KindMemory(work=900, seen=6)})
    both = merged(settled, cut_short)
    assert (both.width, both.turns, both.rate_per_s) == (30, 12, 3.0)
    assert set(both.kinds) == {"text", "code"}
    assert merged(settled, HostMemory(width=12, turns=9)).width == 12


def test_a_run_that_taught_nothing_exports_nothing() -> None:
    assert Clutch.begin().export() is None


def test_nothing_depends_on_where_the_clock_starts() -> None:
    class Later:
        """The same clutch, told times a year later."""

        def __init__(self, by_s: float) -> None:
            self.clutch, self.by_s = Clutch.begin(), by_s

        def __getattr__(self, name: str) -> object:
            return getattr(self.clutch, name)

        def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
            start_at, why = self.clutch.start_at(at + self.by_s, kind, seen_bytes)
            return (at if start_at <= at + self.by_s else start_at - self.by_s), why

        def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
            self.clutch.started(at + self.by_s, attempt, kind, in_flight)

        def showed(self, at: float, attempt: int) -> None:
            self.clutch.showed(at + self.by_s, attempt)

        def observe(self, each: Sample) -> None:
            later = msgspec.structs.replace(each, at=each.at + self.by_s, started_at=each.started_at + self.by_s)
            self.clutch.observe(later)

        def read(self, reading: Reading) -> None:
            self.clutch.read(msgspec.structs.replace(reading, at=reading.at + self.by_s))

        def tick(self, at: float) -> None:
            self.clutch.tick(at + self.by_s)

    for model in (BATCHING, PROCESSES, SLOTS):
        now, later = (Drive(build(model.parameters), Later(by_s), 2, 900, trace=True).run() for by_s in (0.0, 2.0**25))
        assert [width for _, width, _ in later.moves] == [width for _, width, _ in now.moves]


def test_a_trickle_of_tasks_does_not_narrow_a_width_nor_what_is_remembered() -> None:
    clutch, attempt = Clutch.begin(memory=HostMemory(width=40.0, turns=20)), 0
    for at in range(0, 3000, 5):
        clutch.tick(float(at))
        for number in (1, 2):
            attempt += 1
            clutch.started(float(at), attempt, "text", number)
        for number in (attempt - 1, attempt):
            clutch.observe(sample(at + 5.0, number, EndingKind.DONE, in_flight=2))
    assert clutch.width == 40
    exported = clutch.export()
    assert exported is None or exported.turns == 0


@pytest.mark.parametrize("model", [API, PROCESSES, SLOTS], ids=lambda model: model.name)
def test_asking_when_to_start_changes_nothing(model: HostModel) -> None:
    class Asked:
        """Asks far more often than anyone needs to, about now and later."""

        def __init__(self) -> None:
            self.clutch = Clutch.begin()

        def __getattr__(self, name: str) -> object:
            return getattr(self.clutch, name)

        def tick(self, at: float) -> None:
            for later in (0.0, 0.3, 40.0):
                before = msgspec.json.encode(self.clutch)
                self.clutch.start_at(at + later, "fix")
                assert msgspec.json.encode(self.clutch) == before
            self.clutch.tick(at)

    plain = Drive(build(model.parameters), Clutch.begin(), 2, 400, trace=True).run()
    asked = Drive(build(model.parameters), Asked(), 2, 400, trace=True).run()
    assert asked.moves == plain.moves
    assert asked.work == plain.work


def test_an_attempt_without_tokens_among_others_that_report_them_is_left_out() -> None:
    clutch = Clutch.begin(memory=HostMemory(width=4.0, turns=20))
    for attempt in range(4):
        clutch.started(0.0, attempt, "text", attempt + 1)
    for attempt in range(3):
        clutch.observe(msgspec.structs.replace(sample(5.0, attempt, EndingKind.DONE), tokens_out=300))
    clutch.observe(sample(6.0, 3, EndingKind.DONE))
    assert clutch.turn.count == 3
    assert clutch.turn.ended == 4


@pytest.mark.parametrize("remembered", [1.0, 2.5, 5.0, 15.0, 16.4])
def test_a_remembered_width_of_any_size_can_be_filled_and_outgrown(remembered: float) -> None:
    clutch = Clutch.begin(memory=HostMemory(width=remembered, turns=20))
    outcome = Drive(build(API.parameters), clutch, 1, 400, trace=True).run()
    assert max(width for _, width, _ in outcome.moves) > 1.5 * remembered


def test_a_host_that_starts_at_a_width_does_not_say_who_wrote_it() -> None:
    """It may come from a config, a flag, or the number of cores."""
    assert Clutch.begin(start=8).reason == "it starts at 8"


def test_what_an_earlier_run_found_goes_before_the_start_in_the_config() -> None:
    clutch = Clutch.begin(start=2, memory=HostMemory(width=20, turns=5))
    assert (clutch.width, clutch.reason) == (20, "an earlier run settled at 20")
    assert Clutch.begin(start=2).width == 2


def test_the_starts_of_one_step_leave_one_after_another_within_half_a_second() -> None:
    clutch, at = Clutch.begin(start=16, nature=SERVICE), 0.0
    for attempt in range(16):
        at = max(at, clutch.start_at(at, "text")[0])
        clutch.started(at, attempt, "text", attempt + 1)
    assert 0.1 <= at <= 0.5


def test_starts_of_commands_are_not_kept_apart() -> None:
    clutch = Clutch.begin(start=16, nature=COMMANDS)
    for attempt in range(16):
        assert clutch.start_at(0.0, "text")[0] == 0.0
        clutch.started(0.0, attempt, "text", attempt + 1)


@pytest.mark.parametrize("took_s", [0.02, 0.25, 1.0])
def test_a_service_whose_calls_are_short_is_launched_like_any_other(took_s: float) -> None:
    """The starts of a step are spread, but not so that calls end before the width is ever full."""
    clutch, attempt, running = Clutch.begin(nature=SERVICE), 0, dict[int, float]()
    for tick in range(500):
        at = tick / 100
        clutch.tick(at)
        for number in [number for number, started_at in running.items() if at - started_at >= took_s]:
            del running[number]
            clutch.observe(sample(at, number, EndingKind.DONE, took_s, len(running) + 1))
        while len(running) < clutch.width and clutch.start_at(at, "text")[0] <= at:
            attempt += 1
            running[attempt] = at
            clutch.started(at, attempt, "text", len(running))
    assert clutch.width >= 32


@pytest.mark.parametrize(("host", "good"), [(4, 16), (8, 11)])  # both searches end before they have settled
def test_runs_after_one_that_ended_in_mid_search_keep_the_pace_of_a_good_fixed_width(host: int, good: int) -> None:
    runs = [BacklogRun(random_host(host), 60, seed=0, number=number) for number in range(4)]
    for run, ours in list(zip(runs, play(runs), strict=True))[1:]:
        assert ours.seconds < 1.1 * play([run], width=good)[0].seconds
