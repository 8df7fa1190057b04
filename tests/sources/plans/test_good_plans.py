"""Good plans: the same tasks from every format, in the order of the files, with friendly forms made plain."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.core.values.task import Claims, Task
from manyhands.readers.problems import Problems, sheet_of_row
from manyhands.sources.plans.plan_reading import Plan, read_plan
from manyhands.sources.plans.quick_rows import quick_task
from manyhands.sources.plans.task_rows import task_from

TOML = """
[plan]
name = "nightly"
parents = { "epic-1" = 3 }
concurrency = 8
fail_fast = true

[[task]]
id = "schema"
call = "shop.schema:migrate"
args = { steps = [1, 2], deep = { a = 0.5, b = true } }
claims = {}

[[task]]
id = "auth-1"
kind = "code"
title = "Rotate session keys"
priority = 1                   # 0 critical … 4 backlog, default 2
needs = ["schema"]
claims = { write = ["./src/auth//**", "db:main"], append = ["CHANGELOG.md"], read = ["src/db/"] }
run = ["claude", "-p", "{prompt}"]
prompt = '''Rotate the keys:
[[task]]
id = "not a task"
'''
check = ["pytest", "-q", "tests/auth"]
timeout = "1h30m"
attempts = 5
parent = "epic-1"
env = { LANG = "C" }
cwd = "./src/../src/auth/"

[[task]]
id = "größe"
prompt = "How large is it?"
deferred = true
timeout = 90
"""
YAML = """
plan: {name: nightly, parents: {epic-1: 3}, concurrency: 8, fail_fast: true}
task:
- id: schema
  call: shop.schema:migrate
  args: {steps: [1, 2], deep: {a: 0.5, b: true}}
  claims: {}
- id: auth-1
  kind: code
  title: Rotate session keys
  priority: 1
  needs: [schema]
  claims:
    write: [src/auth/**, "db:main"]
    append: [CHANGELOG.md]
    read: [src/db]
  run: &agent [claude, -p, "{prompt}"]
  prompt: |
    Rotate the keys:
    [[task]]
    id = "not a task"
  check: [pytest, -q, tests/auth]
  timeout: 90m
  attempts: 5
  parent: epic-1
  env: {LANG: C}
  cwd: src/auth
- id: größe
  prompt: How large is it?
  deferred: true
  timeout: 90s
"""
ROWS: list[dict[str, Any]] = [
    {"plan": {"name": "nightly", "parents": {"epic-1": 3}, "concurrency": 8, "fail_fast": True}},
    {
        "id": "schema",
        "call": "shop.schema:migrate",
        "args": {"steps": [1, 2], "deep": {"a": 0.5, "b": True}},
        "claims": {},
    },
    {
        "id": "auth-1",
        "kind": "code",
        "title": "Rotate session keys",
        "priority": 1,
        "needs": ["schema"],
        "claims": {"write": ["src/auth/**", "db:main"], "append": ["CHANGELOG.md"], "read": ["src/db"]},
        "run": ["claude", "-p", "{prompt}"],
        "prompt": 'Rotate the keys:\n[[task]]\nid = "not a task"\n',
        "check": ["pytest", "-q", "tests/auth"],
        "timeout": 5400,
        "attempts": 5,
        "parent": "epic-1",
        "env": {"LANG": "C"},
        "cwd": "src/auth",
    },
    {"id": "größe", "prompt": "How large is it?", "deferred": True, "timeout": "90s"},
]


def read(directory: Path, name: str, content: str | bytes) -> Plan:
    (directory / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_plan([directory / name])


def test_every_format_gives_the_same_tasks_and_settings(tmp_path: Path) -> None:
    jsonl = "\n".join(json.dumps(row) for row in ROWS)
    plans = [
        read(tmp_path, "a.toml", TOML),
        read(tmp_path, "a.yaml", YAML),
        read(tmp_path, "a.jsonl", jsonl),
        read(tmp_path, "a.json", json.dumps({**ROWS[0], "task": ROWS[1:]}, indent=1)),
    ]
    for plan in plans[1:]:
        assert plan.tasks == plans[0].tasks
        assert plan.settings == plans[0].settings
    schema, auth, size = plans[0].tasks
    assert [task.kind for task in (schema, auth, size)] == ["python", "code", "text"]
    assert schema.claims == Claims()
    assert auth.claims == Claims(("src/auth/**", "db:main"), ("CHANGELOG.md",), ("src/db",))
    assert (auth.timeout, size.timeout, auth.cwd) == (5400.0, 90.0, "src/auth")
    assert plans[0].settings.parents == {"epic-1": 3}


def test_each_task_knows_its_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    (tmp_path / "b.jsonl").write_text('\n{"id": "last", "run": ["x"], "needs": ["größe"]}\n')
    plan = read_plan([tmp_path / "a.toml", tmp_path / "b.jsonl"])
    assert [task.id for task in plan.tasks] == ["schema", "auth-1", "größe", "last"]
    assert [plan.places.of(number) for number in range(4)] == [
        (str(tmp_path / "a.toml"), 8),
        (str(tmp_path / "a.toml"), 14),
        (str(tmp_path / "a.toml"), 33),
        (str(tmp_path / "b.jsonl"), 2),
    ]


def test_lines_of_one_json_list_are_those_of_its_rows(tmp_path: Path) -> None:
    plan = read(
        tmp_path, "a.json", '[\n {"id": "a", "run": ["x"]},\n\n {"id": "b",\n "run": ["x"]}, {"id": "c", "run": ["x"]}]'
    )
    assert [plan.places.of(number)[1] for number in range(3)] == [2, 4, 5]


@pytest.mark.parametrize("name", ["a.toml", "a.yaml", "a.jsonl", "a.json"])
def test_a_byte_order_mark_and_windows_line_ends_are_tolerated(tmp_path: Path, name: str) -> None:
    text = {
        "a.toml": '[[task]]\r\nid = "a"\r\nrun = ["x"]\r\n',
        "a.yaml": "task:\r\n- id: a\r\n  run: [x]\r\n",
        "a.jsonl": '{"id": "a", "run": ["x"]}\r\n\r\n',
        "a.json": '[{"id": "a",\r\n "run": ["x"]}]',
    }[name]
    assert read(tmp_path, name, b"\xef\xbb\xbf" + text.encode()).tasks == [Task("a", kind="shell", run=("x",))]


def test_yaml_anchors_and_merges_are_fine(tmp_path: Path) -> None:
    text = "task:\n- &first {id: a, run: [x], priority: 1}\n- {<<: *first, id: b}\n"
    assert [(task.id, task.priority) for task in read(tmp_path, "a.yaml", text).tasks] == [("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("20m", 1200), ("1h30m", 5400), ("500ms", 0.5), ("1.5h", 5400), ("1d", 86400), ("1h 30m", 5400)],
)
def test_a_time_out_may_be_written_as_people_do(tmp_path: Path, text: str, seconds: float) -> None:
    row = json.dumps({"id": "a", "run": ["x"], "timeout": text})
    assert read(tmp_path, "a.jsonl", row).tasks[0].timeout == pytest.approx(seconds)


def test_equal_values_of_many_rows_are_kept_once(tmp_path: Path) -> None:
    row = '{{"id": "{}", "kind": "code", "run": ["x", "y"], "claims": {{"write": ["a"]}}, "parent": "epic"}}\n'
    first, second = read(tmp_path, "a.jsonl", row.format("a") + row.format("b")).tasks
    assert first.run is second.run
    assert first.claims is second.claims
    assert first.kind is second.kind
    assert first.parent is second.parent


def test_the_same_need_twice_is_one_need(tmp_path: Path) -> None:
    rows = '{"id": "a", "run": ["x"]}\n{"id": "b", "run": ["x"], "needs": ["a", "a"]}\n'
    assert read(tmp_path, "a.jsonl", rows).tasks[1].needs == ("a",)


names = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="/"), min_size=1, max_size=20
)
good_names = names.filter(lambda name: name not in (".", ".."))
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
segments = st.text("abcXYZ019-_.", min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))
paths = st.lists(segments, min_size=1, max_size=4).map("/".join)
claim_lists = st.lists(paths | st.just("**") | st.just("src/*.py") | st.just("gpu:0"), max_size=3, unique=True)
integers = st.integers(-(2**63), 2**63 - 1)  # larger ones are refused
json_values = st.recursive(
    st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
argv = st.lists(texts, max_size=3).map(lambda rest: ("program", *rest))


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    work = draw(
        st.sampled_from(["run", "call", "prompt"]).flatmap(
            lambda form: st.fixed_dictionaries(
                {
                    "run": {"run": argv, "prompt": texts},
                    "call": {"call": st.just("package.module:function")},
                    "prompt": {"prompt": texts.filter(bool)},
                }[form]
            )
        )
    )
    kind = draw(st.sampled_from(["code", "text", "größer"]))
    claims = st.builds(Claims, write=claim_lists.map(tuple), append=claim_lists.map(tuple), read=claim_lists.map(tuple))
    more = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "title": texts,
                "priority": st.integers(0, 4),
                "claims": claims,
                "args": st.dictionaries(texts, json_values, max_size=3),
                "check": argv,
                "env": st.dictionaries(texts.filter(lambda name: name and "=" not in name), texts, max_size=3),
                "cwd": paths,
                "timeout": st.floats(0.001, 1e9),
                "attempts": st.integers(1, 100),
                "parent": names,
                "host": names,
                "preemptible": st.booleans(),
                "barrier": st.booleans(),
                "deferred": st.booleans() | st.just("after the release"),
                "resources": st.dictionaries(names, st.floats(0, 1e12), max_size=2),
                "labels": st.lists(texts, max_size=3).map(tuple),
            },
        )
    )
    return Task(draw(good_names), kind=kind, **work, **more)


@settings(max_examples=150, deadline=None)
@given(task=tasks())
def test_a_task_written_as_a_row_is_read_back_the_same_by_both_ways(task: Task) -> None:
    row = msgspec.json.encode(task)
    problems = Problems()
    closely = task_from(msgspec.json.decode(row), sheet_of_row("p.jsonl", 1, problems))
    assert closely == task, problems.kept
    assert quick_task(row) in (task, None)


@settings(max_examples=150, deadline=None)
@given(fields=st.dictionaries(st.sampled_from(Task.__struct_fields__), json_values, max_size=6), work=st.booleans())
def test_the_short_way_takes_nothing_that_the_close_look_refuses(fields: dict[str, Any], work: bool) -> None:
    row = json.dumps(fields | {"id": fields.get("id", "a")} | ({"run": ["x"]} if work else {})).encode()
    task = quick_task(row)
    if task is not None:
        problems = Problems()
        assert task_from(msgspec.json.decode(row), sheet_of_row("p.jsonl", 1, problems)) == task, problems.kept
