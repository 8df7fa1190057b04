"""Fills the numbers section of README.md from the newest lines of results.jsonl. `--check` only says whether it is so.

What was measured and what was simulated are never in the same table.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).with_name("results.jsonl")
README = Path(__file__).parents[1] / "README.md"
BEGIN = "<!-- numbers: generated from bench/results.jsonl by bench/readme_numbers.py -->\n"
END = "<!-- end of numbers -->\n"
#: Units of the two ends between which nine tenths of the answers lie, before the unit they belong to.
RANGE = ("at least", "at most")


class Question(NamedTuple):
    script: str
    asks: str
    tells: tuple[str, ...]  # the parameters that tell its rows apart
    only: tuple[tuple[str, Any], ...] = ()  # of its rows, those with these parameters


#: In the order of the table. Other questions are not for the README.
MEASURED = {
    "durable_throughput": Question("durable_throughput.py", "no-op tasks, every event on disk", ("engine", "ratio")),
    "scheduler_throughput": Question(
        "scheduler_throughput.py", "a task in the core alone, of 1,000,000", (), (("tasks", 1_000_000),)
    ),
    "recovery_time": Question("recovery_time.py", "opening a journal of 1,000,000 events", ("how",)),
    "plan_reading": Question(
        "plan_reading.py", "a row of a JSONL plan, with all checks", ("shape",), (("format", ".jsonl"),)
    ),
    "clutch_real_server": Question("clutch_real_server.py", "model calls on a llama.cpp server", ("width",)),
}
SIMULATED = {
    "clutch": ("clutch.py", "reference hosts"),
    "clutch_random_hosts": ("clutch.py", "random hosts"),
    "clutch_short_backlogs": ("clutch.py", "short backlogs"),
}


class Result(NamedTuple):
    question: str
    params: dict[str, Any]
    value: float
    unit: str
    commit: str
    host: str


def newest(lines: Iterable[str]) -> list[Result]:
    """The last line for each question, its parameters and unit, in the order in which they first came up."""
    found: dict[str, Result] = {}
    for line in lines:
        raw = json.loads(line)
        key = json.dumps([raw["question"], raw["params"], raw["unit"]], sort_keys=True)
        found[key] = Result(raw["question"], raw["params"], raw["value"], raw["unit"], raw["commit"], raw["host"])
    return list(found.values())


def section(results: list[Result]) -> str:
    parts = ["", *measured_table(results), *simulated_table(results)]
    return "\n".join(parts) + "\n"


def measured_table(results: list[Result]) -> Iterator[str]:
    rows = [result for result in results if is_for_readme(result)]
    if not rows:
        return
    machines = ", and ".join(dict.fromkeys(result.host for result in rows))
    yield f"Measured on {machines}. A `+` after a commit: with changes beyond it.\n"
    yield "| what | value | script | commit |"
    yield "|---|--:|---|---|"
    for name, question in MEASURED.items():
        told: dict[str, dict[str, Result]] = {}  # what it is of → unit → the newest
        for result in rows:
            if result.question == name:
                which = ", ".join(named(result.params[each]) for each in question.tells if each in result.params)
                told.setdefault(which, {})[result.unit] = result
        for which, values in told.items():
            value = " · ".join(written(values, unit) for unit in values if not unit.startswith(RANGE))
            commit = list(values.values())[-1].commit
            what = f"{question.asks}: {which}" if which else question.asks
            yield f"| {what} | {value} | `bench/{question.script}` | {commit} |"
    yield ""


def named(value: Any) -> str:
    words = {"cold": "the clutch, cold", "warm": "the clutch, with memory"}
    return words.get(value) or (f"width {value}" if str(value).isdecimal() else str(value))


def is_for_readme(result: Result) -> bool:
    question = MEASURED.get(result.question)
    return question is not None and all(result.params.get(name) == value for name, value in question.only)


def simulated_table(results: list[Result]) -> Iterator[str]:
    """Limits down, places across: each cell a fraction of what the best fixed width reaches there."""
    for question, (script, asks) in SIMULATED.items():
        rows = [result for result in results if result.question == question]
        if not rows:
            continue
        size = {name: rows[-1].params[name] for name in ("hosts", "seeds") if name in rows[-1].params}
        rows = [result for result in rows if size.items() <= result.params.items()]
        places = list(dict.fromkeys(place_of(result) for result in rows))
        cells = {(result.params["limit"], place_of(result)): result.value for result in rows}
        at = ", ".join(dict.fromkeys(result.commit for result in rows))
        of = ", ".join(f"{value} {name}" for name, value in size.items())
        yield f"Simulated, under virtual time: {asks}, {rows[-1].unit} (`bench/{script}` at {at}; {of}).\n"
        yield "| limit | " + " | ".join(places) + " |"
        yield "|---|" + "--:|" * len(places)
        for limit in dict.fromkeys(result.params["limit"] for result in rows):
            values = [cells.get((limit, place)) for place in places]
            yield f"| {limit} | " + " | ".join("" if value is None else f"{value:.3f}" for value in values) + " |"
        yield ""


def place_of(result: Result) -> str:
    params = result.params
    place = str(params.get("host") or params.get("what"))
    return f"{place}, {params['tasks']} tasks" if "tasks" in params else place


def written(values: dict[str, Result], unit: str) -> str:
    value = values[unit].value
    ends = [f"{values[f'{end}, {unit}'].value:.2f}" for end in RANGE if f"{end}, {unit}" in values]
    around = f" ({'–'.join(ends)})" if ends else ""
    if unit == "ratio":
        return f"{value:.2f} ×"
    if unit.startswith("of the best"):
        return f"{value:.2f}{around} {unit}"
    number = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{number} {unit.replace('us/', 'µs/')}"


def with_section(readme: str, generated: str) -> str:
    before, rest = readme.split(BEGIN)
    return before + BEGIN + generated + END + rest.split(END)[1]


def main() -> int:
    readme = README.read_text()
    filled = with_section(readme, section(newest(RESULTS.read_text().splitlines())))
    if "--check" in sys.argv:
        if filled != readme:
            print("README.md is behind bench/results.jsonl; run `python bench/readme_numbers.py`", file=sys.stderr)
        return int(filled != readme)
    README.write_text(filled)
    return 0


if __name__ == "__main__":
    sys.exit(main())
