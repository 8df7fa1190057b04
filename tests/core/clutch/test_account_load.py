"""How many agents an account bears: those it turns away are not replaced, and quiet minutes let the width grow."""

from manyhands.core.clutch.account_load import AccountLoad


def test_while_agents_are_turned_away_none_is_started_in_their_place() -> None:
    account = AccountLoad()
    assert [account.lost(60.0 + n, 16 - n, of_rate=True) for n in range(4)] == [15.0, 14.0, 13.0, 12.0]


def test_one_incident_keeps_half_of_what_ran_and_the_next_one_may_go_on() -> None:
    account = AccountLoad()
    widths = [account.lost(60.0 + n, 16 - n, of_rate=True) for n in range(12)]
    assert min(widths) == 8.0
    account.has_life = True
    assert account.lost(100.0, 8, of_rate=True) == 7.0


def test_an_account_that_answers_nobody_is_down_and_not_too_full() -> None:
    account = AccountLoad()
    account.lost(60.0, 16, of_rate=True)
    assert [account.lost(60.0 + 20 * n, 8, of_rate=True) for n in range(1, 20)] == [8.0] * 19


def test_quiet_minutes_at_a_full_width_let_it_grow_to_a_little_below_the_trouble() -> None:
    account = AccountLoad()
    width = account.lost(0.0, 12, of_rate=True)
    width = 6.0
    grown_at: list[int] = []
    for second in range(1, 1000):
        if (wider := account.grown(float(second), int(width), width)) is not None:
            width = wider[0]
            grown_at.append(second)
    assert grown_at[0] == 46
    assert width == 10.0  # the next would be as many as met trouble
    assert account.grown(2000.0, 5, 10.0) is None  # not full


def test_one_loss_after_a_long_quiet_time_is_an_accident() -> None:
    account = AccountLoad(trouble=5)
    account.grown(0.0, 4, 4.0)
    assert account.lost(400.0, 4, of_rate=True) == 4.0
    assert account.lost(410.0, 4, of_rate=True) == 3.0


def test_the_number_that_sessions_were_ended_at_is_not_tried_again_soon() -> None:
    account = AccountLoad()
    widths = [account.lost(60.0 + n, 16 - n, of_rate=False) for n in range(4)]
    assert (widths[-1], account.trouble) == (12.0, 13)
    assert all(account.grown(70.0 + second, 12, 12.0) is None for second in range(600))


def test_calls_that_are_refused_and_repeated_end_the_start_but_are_usual_later() -> None:
    account = AccountLoad()
    assert account.asked(30.0, 1, 16) is None
    assert account.asked(31.0, 2, 16) == 16.0
    assert account.asked(32.0, 6, 16) == 12.0
    assert account.asks_told(16) == "9 calls of 16 agents were refused within 15 s"
    assert account.asked(60.0, 1, 16) is None
