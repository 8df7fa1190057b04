"""The hand-tuning rule: earned steps up, one cut per incident, no flapping."""

import msgspec

from manyhands.core.clutch.headroom import CALM_READINGS, SETTLE_READINGS, Headroom
from manyhands.core.values.widths import Reading


def seen(utilisation: float | None = None, memory: float | None = None) -> Reading:
    used = None if memory is None else round(1000 * memory)
    return Reading(at=0.0, utilisation=utilisation, memory_total_bytes=1000, memory_used_bytes=used)


def tell(headroom: Headroom, reading: Reading, times: int = 1, in_flight: int | None = None) -> None:
    for _ in range(times):
        headroom.read(reading, headroom.bound if in_flight is None else in_flight)


def test_low_utilisation_raises_the_bound_by_one_only_after_several_readings_in_a_row() -> None:
    headroom = Headroom(bound=4)
    tell(headroom, seen(0.5, 0.5), CALM_READINGS - 1)
    assert headroom.bound == 4
    tell(headroom, seen(0.5, 0.5))
    assert headroom.bound == 5
    assert headroom.reason == "utilisation 50% under 70% in 5 readings: 4 → 5"


def test_one_busy_reading_starts_the_count_again() -> None:
    headroom = Headroom(bound=4)
    tell(headroom, seen(0.5, 0.5), CALM_READINGS - 1)
    tell(headroom, seen(0.9, 0.5))
    tell(headroom, seen(0.5, 0.5), CALM_READINGS - 1)
    assert headroom.bound == 4


def test_between_the_lines_the_bound_holds() -> None:
    headroom = Headroom(bound=4)
    tell(headroom, seen(0.70, 0.95), 1000)
    assert headroom.bound == 4
    assert headroom.reason == ""


def test_full_memory_lowers_the_bound_once_per_incident() -> None:
    headroom = Headroom(bound=6)
    tell(headroom, seen(0.9, 0.97))
    assert (headroom.bound, headroom.reason) == (5, "memory 97% over 95%: 6 → 5")
    tell(headroom, seen(0.9, 0.97), SETTLE_READINGS)
    assert headroom.bound == 5  # attempts in flight need time to end
    tell(headroom, seen(0.9, 0.97))
    assert headroom.bound == 4  # and it was not enough


def test_memory_that_trembles_around_the_line_is_one_incident() -> None:
    headroom = Headroom(bound=6)
    for _ in range(SETTLE_READINGS):
        tell(headroom, seen(0.9, 0.96))
        tell(headroom, seen(0.9, 0.94))
    assert headroom.bound == 5


def test_memory_that_was_clear_in_between_is_a_new_incident() -> None:
    headroom = Headroom(bound=6)
    tell(headroom, seen(0.9, 0.96))
    tell(headroom, seen(0.9, 0.80))
    tell(headroom, seen(0.9, 0.96))
    assert headroom.bound == 4


def test_a_cut_takes_effect_on_what_is_in_flight_not_on_width_nobody_uses() -> None:
    headroom = Headroom(bound=20)
    tell(headroom, seen(0.9, 0.97), in_flight=4)
    assert headroom.bound == 3


def test_idle_teaches_nothing() -> None:
    headroom = Headroom(bound=4)
    tell(headroom, seen(0.0, 0.1), 100, in_flight=3)
    assert headroom.bound == 4
    tell(headroom, seen(0.0, 0.99), 100, in_flight=0)
    assert headroom.bound == 4


def test_the_bound_stays_within_its_ends() -> None:
    headroom = Headroom(bound=2, least=2, most=3)
    tell(headroom, seen(0.1, 0.1), 1000)
    assert headroom.bound == 3
    tell(headroom, seen(0.1, 0.99), 1000)
    assert headroom.bound == 2


def test_what_a_probe_does_not_show_moves_nothing() -> None:
    headroom = Headroom(bound=4)
    tell(headroom, seen(None, None), 100)
    tell(headroom, seen(None, 0.93), 100)
    assert headroom.bound == 4
    tell(headroom, seen(0.5, None), CALM_READINGS)
    assert headroom.bound == 5


def test_where_only_memory_shows_it_alone_tells_of_room() -> None:
    headroom = Headroom(bound=4)
    tell(headroom, seen(None, 0.5), CALM_READINGS)
    assert (headroom.bound, headroom.reason) == (5, "memory 50% under 90% in 5 readings: 4 → 5")


def test_a_device_that_bears_five_and_not_six_is_not_flapped_on() -> None:
    headroom = Headroom(bound=1)
    by_hand = 1
    moves = moves_by_hand = at_five = 0
    for _ in range(2000):
        last = headroom.bound
        tell(headroom, seen(0.12 * last, 0.16 * last + 0.02))
        moves += headroom.bound != last
        at_five += headroom.bound == 5

        last = by_hand
        by_hand += 1 if 0.16 * last + 0.02 <= 0.95 else -1  # utilisation is always low here
        moves_by_hand += by_hand != last
    # Four steps up, then the sixth attempt is tried and taken back ever more rarely.
    assert moves <= 30
    assert at_five >= 1900
    assert moves_by_hand == 2000


def test_a_device_whose_memory_follows_late_is_not_flapped_on_either() -> None:
    """Memory lags a dozen readings behind the bound, so that every incident takes more than one cut."""
    headroom = Headroom(bound=5)
    history = [5] * 12
    moves = []
    for reading in range(20_000):
        history.append(headroom.bound)
        tell(headroom, seen(0.5, 0.16 * history[-12] + 0.02))
        if headroom.bound != history[-1]:
            moves.append(reading)
    assert len([at for at in moves if at >= 10_000]) <= 80
    assert headroom.bound <= 7


def test_a_step_that_holds_makes_the_next_one_come_as_soon_as_ever() -> None:
    headroom = Headroom(bound=5)
    tell(headroom, seen(0.6, 0.97))
    assert headroom.bound == 4
    # The neighbour that filled the memory has gone: two longer waits, then the steps are the usual ones.
    readings = 0
    while headroom.bound < 10:
        tell(headroom, seen(0.5, 0.5))
        readings += 1
    assert readings <= 2 * 2 * CALM_READINGS + 4 * CALM_READINGS


def test_its_fields_are_its_whole_state() -> None:
    headroom = Headroom(bound=5)
    tell(headroom, seen(0.6, 0.97))
    tell(headroom, seen(0.5, 0.5), CALM_READINGS)
    restored = msgspec.json.decode(msgspec.json.encode(headroom), type=Headroom)
    for each in (headroom, restored):
        tell(each, seen(0.5, 0.5), 50)
    assert restored == headroom
