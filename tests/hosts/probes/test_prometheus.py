"""Any page gives values or a plain refusal."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.probes.pages import vllm_page
from manyhands.hosts.probes.prometheus import values_of
from manyhands.readers.no_answer import NoAnswer

NAMES = ("vllm:num_requests_running", "vllm:num_requests_waiting")
PAGE = vllm_page()


@given(st.binary() | st.text().map(lambda text: ("vllm:num_requests_running" + text).encode(errors="ignore")))
def test_any_page_gives_finite_values_or_is_refused(page: bytes) -> None:
    with contextlib.suppress(NoAnswer):
        assert all(math.isfinite(value) for values in values_of(page, NAMES).values() for value in values)


@given(st.integers(0, len(PAGE) - 1), st.binary(max_size=4))
def test_a_damaged_page_gives_finite_values_or_is_refused(place: int, damage: bytes) -> None:
    page = PAGE[:place] + damage + PAGE[place + 1 :]
    with contextlib.suppress(NoAnswer):
        assert all(math.isfinite(value) for values in values_of(page, NAMES).values() for value in values)


def test_a_name_that_begins_like_a_wanted_one_is_not_taken_for_it() -> None:
    page = b"vllm:num_requests_running_max 9\nvllm:num_requests_running 4\n"
    assert values_of(page, NAMES) == {"vllm:num_requests_running": [4.0]}


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "1e999"])
def test_a_value_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(NoAnswer, match="impossible"):
        values_of(vllm_page(running=value), NAMES)
