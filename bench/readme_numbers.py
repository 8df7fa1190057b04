"""Writes docs/numbers.md and the ten numbers of README.md from the newest lines of results.jsonl. `--check` only looks.

What was measured and what was simulated are never in the same table.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).with_name("results.jsonl")
README = Path(__file__).parents[1] / "README.md"
ALL = Path(__file__).parents[1] / "docs" / "numbers.md"
TITLE = """# Numbers

Every figure is written by a script in `bench/` into `bench/results.jsonl`, with the commit that it measured.
The README has ten of them.
"""
BEGIN = "<!-- numbers: generated from bench/results.jsonl by bench/readme_numbers.py -->\n"
END = "<!-- end of numbers -->\n"
#: Units of the two ends between which nine tenths of the answers lie, before the unit they belong to.
RANGE = ("at least", "at most")


class Question(NamedTuple):
    script: str
    asks: str
    tells: tuple[str, ...]  # the parameters that tell its rows apart
    only: tuple[tuple[str, tuple[Any, ...]], ...] = ()  # of its rows, those with one of these values of a parameter


#: In the order of the table. Other questions are not for the README.
MEASURED = {
    "durable_throughput": Question("durable_throughput.py", "no-op tasks, every event on disk", ("engine", "ratio")),
    "scheduler_throughput": Question(
        "scheduler_throughput.py", "a task in the core alone, of 1,000,000", (), (("tasks", (1_000_000,)),)
    ),
    "recovery_time": Question("recovery_time.py", "opening a journal of 1,000,000 events", ("how",)),
    "plan_reading": Question(
        "plan_reading.py", "a row of a JSONL plan, with all checks", ("shape",), (("format", (".jsonl",)),)
    ),
    "before_after": Question(
        "before_after.py",
        "cost now, compared with before the six rooms (85f7a9e)",
        ("cost",),
        (("cost", ("core, a task", "plan reading, small rows", "plan reading, typical rows", "durable no-ops")),),
    ),
    "page_speed": Question(
        "page_speed.py",
        "the page of a run of 5,000 tasks",
        ("what",),
        (
            ("tasks", (5_000,)),
            ("what", ("first picture of a run", "a filter", "zooming in the graph", "a replay is ready")),
        ),
    ),
    "clutch_real_server": Question("clutch_real_server.py", "model calls on a llama.cpp server", ("width",)),
    "agent_overhead": Question("agent_overhead.py", "an agent host beside a shell host with the same command", ("of",)),
    "agents_closed_account": Question(
        "real_agents.py", "12 tasks, an account that closes for 20 s after the third", ("agent",)
    ),
    "agents_burst": Question("real_agents.py", "six agents at once, an API that kills bursts above four", ("agent",)),
    "agents_sharing": Question("real_agents.py", "eight sessions at once", ("how",)),
}
SIMULATED = {
    "clutch": ("clutch.py", "reference hosts"),
    "clutch_random_hosts": ("clutch.py", "random hosts"),
}
SHORT = "short_backlogs"


#: Short names in the results, in words for people.
WORDS = {
    "cold": "the clutch, cold",
    "warm": "the clutch, with memory",
    "manyhands crash": "manyhands, safe from a crash",
    "manyhands power": "manyhands, safe from a power cut",
}
#: What the README shows: these rows of a measured question.
IN_README = {
    "durable_throughput": (
        "manyhands, safe from a crash",
        "manyhands, safe from a crash, to nats jetstream",
        "manyhands, safe from a power cut",
        "manyhands, safe from a power cut, to nats jetstream fsync",
    ),
    "scheduler_throughput": ("",),
    "recovery_time": ("with a snapshot",),
    "plan_reading": ("typical",),
    "page_speed": ("first picture of a run",),
    "clutch_real_server": ("the clutch, cold",),
    "agent_overhead": ("an attempt",),
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


def section(results: list[Result], wanted: Mapping[str, Sequence[str]] | None = None) -> str:
    """All tables, or only the rows that are wanted of what was measured."""
    parts = ["", *measured_table(results, wanted)]
    if wanted is None:
        for case in ("cold", "run 2"):
            parts += short_backlogs_table(results, case)
        parts += simulated_tables(results)
    return "\n".join(parts) + "\n"


def measured_table(results: list[Result], wanted: Mapping[str, Sequence[str]] | None) -> Iterator[str]:
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
            if wanted is not None and which not in wanted.get(name, ()):
                continue
            value = " · ".join(written(values, unit) for unit in values if not unit.startswith(RANGE))
            commit = list(values.values())[-1].commit
            what = f"{question.asks}: {which}" if which else question.asks
            yield f"| {what} | {value} | `bench/{question.script}` | {commit} |"
    yield ""


def named(value: Any) -> str:
    text = str(value)
    for short, words in WORDS.items():
        text = words if text == short else text.replace(f"{short} / ", f"{words}, to ")
    return f"width {text}" if text.isdecimal() else text


def is_for_readme(result: Result) -> bool:
    question = MEASURED.get(result.question)
    return question is not None and all(result.params.get(name) in values for name, values in question.only)


def simulated_tables(results: list[Result]) -> Iterator[str]:
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


def short_backlogs_table(results: list[Result], case: str) -> Iterator[str]:
    """Kinds of hosts down, numbers of tasks across: mean and tenth percentile of many runs."""
    rows = [result for result in results if result.question == SHORT and result.params.get("case") == case]
    rows = [row for row in rows if row.params["what"] in ("mean", "p10")]
    cells = {(row.params["family"], row.params["tasks"], row.params["what"]): row for row in rows}
    if not cells:
        return
    sizes = sorted({tasks for _, tasks, _ in cells})
    when = "with nothing learned yet" if case == "cold" else f"{case}, with what the runs before have taught"
    at = ", ".join(dict.fromkeys(row.commit for row in rows))
    yield f"Simulated, under virtual time: short backlogs through the whole scheduler, {when}."
    hosts = sorted({row.params["hosts"] for row in rows})
    many = f"{hosts[0]} to {hosts[-1]} hosts of each kind"
    yield f"Mean / tenth percentile, {rows[-1].unit} (`bench/{SHORT}.py` at {at}; {many}).\n"
    yield "| hosts | " + " | ".join(f"{tasks} tasks" for tasks in sizes) + " |"
    yield "|---|" + "--:|" * len(sizes)
    for family in dict.fromkeys(family for family, _, _ in cells):
        pairs = [[cells.get((family, tasks, what)) for what in ("mean", "p10")] for tasks in sizes]
        yield (
            f"| {family} | "
            + " | ".join(" / ".join(f"{one.value:.2f}" for one in pair if one) for pair in pairs)
            + " |"
        )
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
    results = newest(RESULTS.read_text().splitlines())
    files = {
        README: with_section(README.read_text(), section(results, IN_README)),
        ALL: TITLE + section(results).rstrip("\n") + "\n",
    }
    behind = [file.name for file, text in files.items() if not file.exists() or file.read_text() != text]
    if "--check" in sys.argv:
        for name in behind:
            print(f"{name} is behind bench/results.jsonl; run `python bench/readme_numbers.py`", file=sys.stderr)
        return int(bool(behind))
    for file, text in files.items():
        file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
