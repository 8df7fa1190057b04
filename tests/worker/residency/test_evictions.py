"""Which models make room, and which do not."""

from msgspec import structs

from manyhands.worker.residency.evictions import IDLE_S, Resident, plan_evictions

MIB = 2**20
OLD = Resident("old", 100 * MIB, loaded_at=0.0, load_s=0.1, used_at=10.0, useful_s=5.0)
AT = 100.0


def another(name: str, **fields: object) -> Resident:
    return structs.replace(OLD, model=name, **fields)


def evicted(*residents: Resident, wanted: int = 50 * MIB, priority: int = 2, at: float = AT) -> tuple[str, ...]:
    return plan_evictions(residents, wanted, priority, at).models


def test_the_least_recently_useful_goes_first() -> None:
    assert evicted(another("fresh", used_at=99.0), OLD) == ("old",)


def test_useful_is_per_byte() -> None:
    assert evicted(another("large", bytes=1000 * MIB), OLD) == ("large",)


def test_work_that_waits_makes_a_model_worth_keeping() -> None:
    assert evicted(another("busy", waiting_s=60.0), another("fresh", used_at=99.0)) == ("fresh",)


def test_nobody_goes_unless_enough_room_is_made() -> None:
    assert evicted(OLD, another("other"), wanted=300 * MIB) == ()


def test_nobody_goes_who_is_not_needed() -> None:
    small = another("small", bytes=10 * MIB, useful_s=0.0)
    assert evicted(small, another("large", bytes=200 * MIB), wanted=150 * MIB) == ("large",)


def test_the_pinned_never_go() -> None:
    assert evicted(another("pinned", pinned=True)) == ()


def test_a_model_that_just_came_stays_for_a_while() -> None:
    plan = plan_evictions([another("new", loaded_at=98.0)], MIB, 2, AT)
    assert (plan.models, plan.again_at) == ((), 103.0)


def test_what_is_slow_to_load_stays_longer() -> None:
    plan = plan_evictions([another("slow", loaded_at=60.0, load_s=6.0)], MIB, 2, AT)
    assert (plan.models, plan.again_at) == ((), 120.0)


def test_the_more_important_make_room_only_once_idle() -> None:
    important = another("important", priority=0, used_at=AT - IDLE_S + 1)
    assert evicted(important) == ()
    assert evicted(important, at=AT + 2) == ("important",)
    assert evicted(structs.replace(important, waiting_s=1.0), at=AT + 2) == ()
