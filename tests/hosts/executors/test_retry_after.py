"""When a server says to come back, in all the ways servers say it."""

import math
from email.utils import formatdate

import pytest

from manyhands.hosts.executors.openai_errors import retry_after

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "20"}, 20),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, 90),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, 0),
        ({"retry-after-ms": "1200", "retry-after": "2"}, 1.2),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e300"}, 7 * 86_400),
        ({"x-ratelimit-reset-requests": "1s"}, 1),
        ({"x-ratelimit-reset-requests": "6m0.5s"}, 360.5),
        ({"x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-reset-tokens": "1h2m"}, 3720),
        ({"x-ratelimit-reset": str(int(NOW + 30))}, 30),
        ({"x-ratelimit-reset": str(int((NOW + 30) * 1000))}, 30),
        ({"anthropic-ratelimit-tokens-reset": "2027-01-15T08:01:00Z"}, 60),
        ({"x-ratelimit-reset-requests": "9s", "x-ratelimit-reset-tokens": "2s"}, 2),
        (
            {
                "x-ratelimit-reset-requests": "9s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "2s",
                "x-ratelimit-remaining-tokens": "500",
            },
            9,
        ),
        ({"retry-after": "4", "x-ratelimit-reset-requests": "9s"}, 4),
    ],
)
def test_every_way_of_saying_when(headers: dict[str, str], seconds: float | None) -> None:
    told = retry_after(headers, NOW)
    if seconds is None:
        assert told is None
    else:
        assert told is not None
        assert math.isclose(told, seconds, abs_tol=1e-6)


def test_a_wait_of_years_is_taken_for_a_mistake() -> None:
    assert retry_after({"retry-after": "999999999"}, NOW) == 7 * 86_400
