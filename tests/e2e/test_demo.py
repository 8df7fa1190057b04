"""The demo keeps what it promises, measured by itself and held to its arithmetic."""

import warnings

import pytest

from surfaces.cli.console import Console, Done


def measure(console: Console) -> dict[str, float]:
    done = console.run("demo", "--scale", "0.01", "--output", "json")
    assert done.code == 0, done.err
    found = done.json
    # Exact on any machine: slowness changes when, never how many at once.
    assert found["peaks"] == {"coder": 2, "writer": 3, "thinker": 2}
    assert found["ideal_s"] == 2.0
    return {
        "makespan over ideal": found["makespan_s"] / found["ideal_s"],
        "speed-up": found["one_at_a_time_s"] / found["makespan_s"],
    }


@pytest.mark.slow
def test_the_demo_comes_within_5_percent_of_the_ideal_and_is_1_9_times_as_fast_as_one_at_a_time(
    console: Console,
) -> None:
    found = measure(console)
    if not keeps_its_promise(found):
        warnings.warn(f"the machine is loaded: {found}; measured once more", stacklevel=1)
        found = measure(console)
    assert keeps_its_promise(found), f"twice: {found}"


def keeps_its_promise(found: dict[str, float]) -> bool:
    return found["makespan over ideal"] <= 1.05 and found["speed-up"] >= 1.9


def test_the_demo_tells_people_the_peaks_and_both_times(console: Console) -> None:
    done = console.run("demo", "--scale", "0.001")
    assert done.code == 0
    assert peaks_of(done) == {"coder": ("2", "2"), "writer": ("3", "3"), "thinker": ("2", "2")}
    assert "× the ideal of 0.20 s" in done.out
    assert "× as fast" in done.out
    again = console.run("demo", "--scale", "0.001")
    assert peaks_of(again) == peaks_of(done)
    runs = console.run("runs", "-o", "ids")
    assert runs.ids == ["demo-one-at-a-time-2", "demo-2", "demo-one-at-a-time-1", "demo-1"]


def peaks_of(done: Done) -> dict[str, tuple[str, str]]:
    rows = [line.split() for line in done.out.splitlines()[1:4]]
    return {host: (width, peak) for host, width, peak in rows}
