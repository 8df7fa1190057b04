"""The demo keeps what it promises: its story has every part, and the mix is held to its arithmetic."""

import re
import subprocess
import warnings
from pathlib import Path

import pytest

from manyhands.core.state import Record
from manyhands.core.values.ending import EndingKind
from manyhands.surfaces.verbs.store_view import open_book
from surfaces.cli.console import Console, Done


def measure(console: Console) -> dict[str, float]:
    done = console.run("demo", "--mix", "--scale", "0.01", "--output", "json")
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
    done = console.run("demo", "--mix", "--scale", "0.001")
    assert done.code == 0
    assert peaks_of(done) == {"coder": ("2", "2"), "writer": ("3", "3"), "thinker": ("2", "2")}
    assert "× the ideal of 0.20 s" in done.out
    assert "× as fast" in done.out
    again = console.run("demo", "--mix", "--scale", "0.001")
    assert peaks_of(again) == peaks_of(done)
    runs = console.run("runs", "-o", "ids")
    assert runs.ids == ["demo-one-at-a-time-2", "demo-2", "demo-one-at-a-time-1", "demo-1"]


def peaks_of(done: Done) -> dict[str, tuple[str, str]]:
    rows = [line.split() for line in done.out.splitlines()[1:4]]
    return {host: (width, peak) for host, width, peak in rows}


def test_the_story_has_every_part_that_it_announces(console: Console) -> None:
    """Shorter than for people. The steps of the clutch keep their own time, so only the model's width climbs."""
    done = console.run("demo", "--scale", "0.25", "--no-page", TMPDIR=str(console.directory))
    assert done.code == 0, done.err
    (place,) = console.directory.glob("manyhands-demo-*")
    book = open_book(place / ".manyhands")
    (run,) = book.runs.values()
    assert {str(state): n for state, n in run.counts.items() if n} == {"done": 62}

    assert endings(run.records["fix-discount"]) == ["failed", "done"]
    (told,) = (place / ".manyhands").glob("attempts/*/fix-discount.2/output.log")
    assert "The check did not pass: AssertionError: 338 != 337" in told.read_text()

    usage, install = (run.records[f"readme-{name}"].history[-1] for name in ("usage", "install"))
    assert usage.ended_at <= install.started_at or install.ended_at <= usage.started_at

    refused = [record for record in run.records.values() if EndingKind.OVERLOADED in endings(record)]
    assert refused, "the model refused with 429"
    assert all(record.tries <= 1 for record in refused), "and no task lost an attempt"
    assert book.hosts["model"].peak > 4

    assert len(git(place, "log", "--format=%s").splitlines()) == 15, "one commit for each change, and the first"
    assert "-> float:" in (place / "shop" / "cart.py").read_text()
    assert re.search(r"^next: `manyhands init`", done.err, re.MULTILINE)


def endings(record: Record) -> list[EndingKind]:
    return [tried.ending.kind for tried in record.history or () if tried.ending is not None]


def git(directory: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=directory, capture_output=True, text=True, check=True).stdout
