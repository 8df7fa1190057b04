"""Every mistake in a plan is told with its line, field and a next step, and nothing of the plan is used."""

from pathlib import Path

import pytest

from manyhands.errors import BacklogError
from manyhands.readers.problems import Problem
from manyhands.sources.plans.plan_reading import PlanRefused, read_plan

GOOD = '[[task]]\nid = "good"\nrun = ["true"]\n'


def refusal(directory: Path, *files: tuple[str, str | bytes]) -> PlanRefused:
    for name, content in files:
        (directory / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(PlanRefused) as caught:
        read_plan([directory / name for name, _ in files])
    return caught.value


def problems_of(directory: Path, *files: tuple[str, str | bytes]) -> list[Problem]:
    return refusal(directory, *files).problems


def in_toml(line: str) -> str:
    """A plan whose second task has this line as its sixth."""
    return f'{GOOD}[[task]]\nid = "bad"\n{line}\n'


#: (a line of a task, the field, words of the message, words of the hint); `run` is added where the line has none
TOML_LINES = [
    ('run = ["x"]\ntimout = 3', "timout", "unknown field `timout`", "did you mean `timeout`?"),
    ("run = \"echo 'a b' c\"", "run", "must be a list of strings", 'write `run = ["echo", "a b", "c"]`'),
    ('run = ["x", 3]', "run[1]", "must be a string, got 3", "quotes"),
    ('run = [" "]', "run[0]", "must name a program", ""),
    ("priority = 5", "priority", "must be 0, 1, 2, 3 or 4, got 5", "0 (critical) to 4"),
    ("priority = -1", "priority", "must be 0, 1, 2, 3 or 4, got -1", "0 (critical) to 4"),
    ("priority = 1.5", "priority", "must be a whole number, got 1.5", ""),
    ("priority = true", "priority", "must be a whole number, got true", ""),
    ('priority = "P1"', "priority", "must be a whole number, got 'P1'", "write `priority = 1`"),
    ('priority = "high"', "priority", "must be a whole number, got 'high'", "0 (critical) to 4"),
    ("timeout = -5", "timeout", "must be above 0, got -5", "leave it out"),
    ("timeout = 0", "timeout", "must be above 0, got 0", "leave it out"),
    ('timeout = "0s"', "timeout", "must be above 0, got '0s'", "leave it out"),
    ("timeout = nan", "timeout", "must be a finite number, got nan", "leave it out"),
    ("timeout = inf", "timeout", "must be a finite number, got inf", "leave it out"),
    ("timeout = -inf", "timeout", "must be above 0, got -inf", "leave it out"),
    ('timeout = "soon"', "timeout", "must be a length of time, got 'soon'", '"20m"'),
    ('timeout = "90"', "timeout", "must be a length of time, got '90'", '"90s"'),
    ("timeout = true", "timeout", "must be a length of time, got true", '"20m"'),
    ("timeout = 2024-01-01", "timeout", "must be a length of time", '"20m"'),
    ("attempts = 0", "attempts", "must be at least 1, got 0", "leave it out"),
    ('title = "a\\u0000b"', "title", "`title` has a NUL byte", "take the"),
    ('run = ["x", "\\u0000"]', "run[1]", "`run[1]` has a NUL byte", "take the"),
    ('env = { A = "\\u0000" }', "env.A", "`env.A` has a NUL byte", "take the"),
    ('env = { "A=B" = "x" }', "env.A=B", "is not a name of an environment variable", "take out the `=`"),
    ("env = { A = 1 }", "env.A", "must be a string, got 1", "quotes"),
    ('claims = { write = ["/etc/passwd"] }', "claims.write[0]", "must be relative to the workspace", "outside"),
    ('claims = { write = ["a", "../x"] }', "claims.write[1]", "leaves the workspace, got '../x'", "outside"),
    ('claims = { write = ["a/../../x"] }', "claims.write[0]", "leaves the workspace", "outside"),
    ('claims = { read = ["~/x"] }', "claims.read[0]", "leaves the workspace", "`~` is never expanded"),
    ('claims = { read = ["C:/x"] }', "claims.read[0]", "must be relative to the workspace", "outside"),
    ('claims = { read = ["src\\\\x"] }', "claims.read[0]", "must not have backslashes", "`src/x`"),
    ('claims = { read = ["src/[ab"] }', "claims.read[0]", "has a `[` that is never closed", "[[]"),
    ('claims = { read = ["src/a**"] }', "claims.read[0]", "has `**` beside other characters", "a/**/b"),
    ('claims = { read = ["*/../b"] }', "claims.read[0]", "has `..` after a wildcard", "detour"),
    ('claims = { read = ["src/{a,b}"] }', "claims.read[0]", "must not have braces", "{a,b}"),
    ('claims = { read = ["!src"] }', "claims.read[0]", "must not be negated", "list what the task touches"),
    ('claims = { read = ["./db:main"] }', "claims.read[0]", "reads like a named resource", "no colon"),
    ('claims = { read = [""] }', "claims.read[0]", "must not be empty", "claims = {}"),
    ('claims = { wirte = ["a"] }', "claims.wirte", "unknown field `claims.wirte`", "did you mean `write`?"),
    ('claims = ["src"]', "claims", "must be a table", 'write `claims = { write = ["src"] }`'),
    ('claims = { write = "src" }', "claims.write", "must be a list of strings", ""),
    ('cwd = "../elsewhere"', "cwd", "leaves the workspace", "outside"),
    ('cwd = "/tmp"', "cwd", "must be relative to the workspace", "outside"),
    ('needs = "good"', "needs", "must be a list of strings", 'write `needs = ["good"]`'),
    ('needs = ["godo"]', "needs", "names 'godo', and the plan has no such task", "did you mean `good`?"),
    ('needs = ["bad"]', "needs", "tasks wait for each other: bad → bad", "take out one"),
    ('call = "not a function"\nprompt = "x"', "call", "must name a function", "package.module:function"),
    ('run = ["x"]\ncall = "a:b"', "call", "has `run` or `call`, not both", "two tasks"),
    ('kind = "co*"', "kind", "must be one kind, not a pattern", "globs are for"),
    ('kind = "two words"', "kind", "must not have blanks", "two-words"),
    ("resources = { gpu = -1 }", "resources.gpu", "must be a finite number, 0 or more, got -1", ""),
    ("args = { at = 2024-01-01 }", "args.at", "must not be a date", "quotes"),
    ("args = { x = nan }", "args.x", "must be a finite number", ""),
    ('deferred = "yes"', "deferred", "must be true, false, or a reason of more than one word, got 'yes'", ""),
    ('prompt = ""', "", "the task has nothing to run", "give it `run"),
]


@pytest.mark.parametrize(("line", "field", "message", "hint"), TOML_LINES, ids=lambda value: str(value)[:40])
def test_a_bad_field_is_told_with_its_line(tmp_path: Path, line: str, field: str, message: str, hint: str) -> None:
    has_work = any(word in line for word in ("run =", "prompt ="))
    text = in_toml(line if has_work else f'{line}\nrun = ["true"]')
    [problem] = problems_of(tmp_path, ("plan.toml", text))
    in_which_line = next(
        (
            number
            for number, row in enumerate(text.split("\n"), 1)
            if number > 4 and row.startswith(field.split(".")[0].split("[")[0])
        ),
        4,
    )
    assert (problem.field, problem.line if field else 4) == (field, in_which_line if field else 4)
    assert message in problem.message
    assert hint in problem.hint
    assert problem.file == str(tmp_path / "plan.toml")


BAD_IDS = ["a b", "a\\tb", "a/b", "", "x" * 201, "a\\u202eb", ".", "..", "a\\u0007"]


@pytest.mark.parametrize("task_id", BAD_IDS, ids=range(len(BAD_IDS)))
def test_an_id_that_a_path_or_a_terminal_would_take_amiss_is_refused(tmp_path: Path, task_id: str) -> None:
    [in_toml_file] = problems_of(tmp_path, ("plan.toml", f'\n[[task]]\nid = "{task_id}"\nrun = ["x"]\n'))
    [in_jsonl] = problems_of(tmp_path, ("plan.jsonl", f'\n\n{{"id": "{task_id}", "run": ["x"]}}\n'))
    assert (in_toml_file.field, in_toml_file.line) == (in_jsonl.field, in_jsonl.line) == ("id", 3)
    assert in_toml_file.message == in_jsonl.message
    assert in_toml_file.message.startswith("`id` must ")


def test_a_title_of_2_mb_is_refused_and_not_shown_in_full(tmp_path: Path) -> None:
    title = "x" * 2_000_000
    for name, text in (
        ("plan.toml", f'[[task]]\nid = "a"\ntitle = "{title}"\nrun = ["x"]\n'),
        ("plan.jsonl", f'{{"id": "a", "run": ["x"], "title": "{title}"}}\n'),
        ("plan.yaml", f'task:\n- id: a\n  title: "{title}"\n  run: [x]\n'),
    ):
        refused = refusal(tmp_path, (name, text))
        assert "must be at most 10,000 characters long, has 2,000,000" in refused.message
        assert len(refused.message) < 400
        assert len(refused.problems[0].value) <= 64
        assert refused.problems[0].line == (1 if name == "plan.jsonl" else 3)


#: (file name, content, line, words of the message, words of the hint)
FILES: list[tuple[str, str | bytes, int, str, str]] = [
    ("a.toml", GOOD + "[[task]\n", 4, "is not valid TOML", ""),
    ("b.toml", 'x = """\nnever closed\n', 3, "is not valid TOML", ""),
    ("c.toml", GOOD + 'id = "again"\n', 4, "is not valid TOML", ""),
    ("d.toml", '[task]\nid = "a"\n', 1, "`task` must be a list of tables", "[[task]]"),
    ("e.toml", '[[tasks]]\nid = "a"\n', 1, "unknown field `tasks`", "did you mean `task`?"),
    ("f.toml", "", 0, "has no tasks", "[[task]]"),
    ("g.toml", "# nothing\n", 0, "has no tasks", "[[task]]"),
    ("h.toml", b'\n[[task]]\nid = "\xff"\n', 3, "is not UTF-8: byte 0xff", "save the file as UTF-8"),
    ("i.toml", "[[task]]\nid = 'a'\n".encode("utf-16"), 1, "is not UTF-8", "UTF-16"),
    ("j.toml", "a = " + "[" * 5000 + "]" * 5000, 0, "is nested too deeply", ""),
    ("k.toml", '[[task]]\nrun = ["x"]\n', 1, "`id` is missing", "an id of its own"),
    ("l.toml", "task = [1]\n", 1, "a task must be a table, got 1", "for example"),
    ("a.yaml", "task:\n- id: a\n   run: [x]\n", 3, "is not valid YAML", ""),
    ("b.yaml", "task:\n\t- id: a\n", 2, "is not valid YAML", "blanks, not tabs"),
    (
        "c.yaml",
        "task:\n- id: a\n  run: [x]\n  id: b\n",
        4,
        "`id` is given twice in one table, first on line 2",
        "keep one",
    ),
    ("d.yaml", "task:\n- id: a\n  run: !!python/object:os.system [x]\n", 3, "is not valid YAML", "no tags"),
    ("e.yaml", "task:\n- id: a\n  run: [x]\n---\ntask: []\n", 4, "a second document begins", "one plan a file"),
    ("f.yaml", "task: &a\n- *a\n", 1, "a reference to what it is part of", "write the value out"),
    ("g.yaml", "task:\n- id: 5\n  run: [x]\n", 2, "`id` must be a string, got 5", "quotes"),
    ("h.yaml", "task:\n- id: a\n  run: [sleep, 1]\n", 3, "`run[1]` must be a string, got 1", "quotes"),
    ("i.yaml", "- id: a\n  run: [x]\n", 1, "must be a table with `task` in it", "`task:`"),
    ("j.yaml", "", 0, "has no tasks", "[[task]]"),
    (
        "k.yaml",
        "task:\n- id: a\n  title:\n  run: [x]\n",
        3,
        "`title` must be a string, got nothing",
        "leave the field out",
    ),
    ("l.yaml", b'task:\n- id: a\n  title: "\xff"\n', 3, "is not UTF-8", "UTF-8"),
    ("m.yaml", "task:\n- id: a\n  title: a\0b\n", 3, "is not valid YAML", "take the character out"),
    ("n.yaml", "task:\n- id: a\n  1: x\n  run: [x]\n", 3, "unknown field `1`", ""),
    ("o.yaml", "task:\n- id: a\n  title: 2024-13-45\n  run: [x]\n", 0, "is not valid YAML", "quotes"),
    ("o2.yaml", 'task:\n- id: a\n  title: !!int ""\n  run: [x]\n', 0, "is not valid YAML", "tags"),
    ("o3.yaml", "task:\n- id: a\n  title: !!timestamp x\n  run: [x]\n", 0, "is not valid YAML", "tags"),
    ("o4.yaml", "task:\n- id: a\n  title: !!float ''\n  run: [x]\n", 0, "is not valid YAML", "tags"),
    ("p.yaml", "a: " + "[" * 1_000_000, 1, "is nested too deeply", ""),
    ("q.yaml", 'task:\n- id: a\n  title: "\\0"\n  run: [x]\n', 3, "`title` has a NUL byte", ""),
    ("a.jsonl", '{"id": "a", "run": ["x"]}\n{"id": "b", run: ["x"]}\n', 2, "is not valid JSON", "double quotes"),
    ("b.jsonl", '{"id": "a", "run": ["x"]\n', 1, "is not valid JSON", "one JSON object a line"),
    ("c.jsonl", b'{"id": "a", "run": ["x"]}\n{"id": "\xff", "run": ["x"]}\n', 2, "is not UTF-8: byte 0xff", "UTF-8"),
    ("d.jsonl", '{"id": "a", "run": ["x"], "id": "b"}\n', 1, "`id` is given twice in one table", "keep one"),
    ("e.jsonl", '{"id": "a", "run": ["x"], "env": {"A": "1", "A": "2"}}\n', 1, "`A` is given twice", "keep one"),
    ("f.jsonl", '{"id": "a", "run": ["x"], "title": "\\u0000"}\n', 1, "`title` has a NUL byte", "take the"),
    ("g.jsonl", '{"id": "a", "run": ["x"], "title": "\0"}\n', 1, "has a NUL byte", "take it out"),
    ("h.jsonl", '[{"id": "a", "run": ["x"]}]\n', 1, "a task must be a table", "for example"),
    ("i.jsonl", "null\n", 1, "a task must be a table", ""),
    ("j.jsonl", "\n\n", 0, "has no tasks", "[[task]]"),
    ("k.jsonl", '{"id": "a", "run": ["x"], "timeout": NaN}\n', 1, "is not valid JSON", ""),
    ("l.jsonl", '{"id": "a", "run": ["x"], "timeout": -1}\n', 1, "must be above 0, got -1", "leave it out"),
    (
        "m.jsonl",
        '{"id": "a", "prompt": "x", "args": ' + '{"a":' * 5000 + "1" + "}" * 5001 + "\n",
        1,
        "nested too deeply",
        "",
    ),
    (
        "n.jsonl",
        '{"id": "a", "prompt": "x", "args": ' + '{"a":' * 100 + "1" + "}" * 101 + "\n",
        1,
        "nested too deeply",
        "",
    ),
    ("o.jsonl", '{"id": "a", "run": ["x"]}\n{"plan": {"name": "late"}}\n', 2, "must be the first row", "to the top"),
    (
        "a.json",
        '{"task": [\n{"id": "a", "run": ["x"]},\n{"id": "a b",\n "run": ["x"]}]}',
        3,
        "`id` must not have blanks",
        "",
    ),
    ("b.json", '[{"id": "a", "run": ["x"]},\n{]', 2, "is not valid JSON", ""),
    ("c.json", '{"tsak": []}', 1, "unknown field `tsak`", "did you mean `task`?"),
    ("plan.txt", "x", 0, "is not a plan file: its name ends in `.txt`", ".toml, .yaml"),
]


@pytest.mark.parametrize(("name", "content", "line", "message", "hint"), FILES, ids=[row[0] for row in FILES])
def test_a_bad_file_is_told_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, line: int, message: str, hint: str
) -> None:
    problem, *others = problems_of(tmp_path, (name, content))
    assert others == []
    assert problem.line == line, problem
    assert message in problem.message
    assert hint in problem.hint


def test_references_that_multiply_are_refused_before_they_grow(tmp_path: Path) -> None:
    laughs = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 10))
    [problem] = problems_of(tmp_path, ("plan.yaml", f"x0: &x0 [ha]\n{laughs}"))
    assert "its references stand for" in problem.message


def test_a_missing_file_and_a_directory_are_told(tmp_path: Path) -> None:
    with pytest.raises(PlanRefused) as caught:
        read_plan([tmp_path / "nosuch.toml", tmp_path])
    assert [problem.message for problem in caught.value.problems] == ["there is no such file", "is a directory"]


def test_a_second_task_of_the_same_id_is_told_with_both_lines(tmp_path: Path) -> None:
    [problem] = problems_of(tmp_path, ("plan.toml", GOOD + GOOD))
    assert problem.line == 4
    assert "`id` 'good' is already the id of the task on line 1" in problem.message
    more = ("more.jsonl", '\n{"id": "good", "run": ["x"]}\n')
    [problem] = problems_of(tmp_path, ("plan.toml", GOOD), more)
    assert problem.file.endswith("more.jsonl")
    assert problem.line == 2
    assert problem.message.endswith("plan.toml` line 1")


def test_cycles_are_named_each_of_them_once(tmp_path: Path) -> None:
    rows = [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "x"), ("free", "a")]
    text = "".join(f'{{"id": "{task}", "run": ["x"], "needs": ["{need}"]}}\n' for task, need in rows)
    problems = problems_of(tmp_path, ("plan.jsonl", text))
    assert [(problem.line, problem.message) for problem in problems] == [
        (1, "tasks wait for each other: a → b → c → a"),
        (4, "tasks wait for each other: x → y → x"),
    ]


def test_a_long_cycle_is_told_in_short(tmp_path: Path) -> None:
    text = "".join(f'{{"id": "t{n}", "run": ["x"], "needs": ["t{(n + 1) % 5000}"]}}\n' for n in range(5000))
    [problem] = problems_of(tmp_path, ("plan.jsonl", text))
    assert "t0 → t1 → t2 → t3 → t4 → t5 → … 4992 more … → t4998 → t4999 → t0" in problem.message


def test_all_problems_are_told_at_once_and_each_reads_like_an_error(tmp_path: Path) -> None:
    text = (
        '[plan]\nconcurency = 3\n[[task]]\nid = "a b"\ntimout = 3\nrun = "ls"\n'
        '[[task]]\nid = "c"\npriority = 9\nneeds = ["nosuch", "d"]\nclaims = { write = ["/x", "../y"] }\n'
        '[[task]]\nid = "d"\nneeds = ["c"]\nrun = ["x"]\n'
    )
    refused = refusal(tmp_path, ("plan.toml", text))
    assert isinstance(refused, BacklogError)
    assert [problem.line for problem in refused.problems] == [2, 4, 5, 6, 7, 9, 10, 11, 11, 14]
    printed = f"error: {refused.message}\nhint: {refused.hint}".replace(str(tmp_path) + "/", "")
    assert printed.startswith(
        "error: plan `plan.toml` line 2: unknown field `concurency`\n"
        "hint: did you mean `concurrency`?\n"
        "error: plan `plan.toml` line 4: `id` must not have blanks, control characters or slashes, got 'a b'\n"
        "hint: for example `a-b`\n"
    )
    assert printed.count("error: ") == 10


def test_a_listing_is_capped_and_its_count_is_complete(tmp_path: Path) -> None:
    text = "".join(f'{{"id": "t{n}", "run": ["x"], "priority": 9}}\n' for n in range(5000))
    refused = refusal(tmp_path, ("plan.jsonl", text))
    assert refused.total == 5000
    assert refused.message.count("must be 0, 1, 2, 3 or 4") == 50
    assert refused.message.endswith("error: … and 4950 more (5000 problems in all)")


def test_a_bad_row_does_not_make_its_dependents_bad(tmp_path: Path) -> None:
    rows = '{"id": "a", "run": ["x"], "priority": 9}\n{"id": "b", "needs": ["a"], "run": ["x"]}\n'
    [problem] = problems_of(tmp_path, ("plan.jsonl", rows))
    assert problem.field == "priority"
    rows = '{"id": "a", "run": ["x"],}\n{"id": "b", "needs": ["a", "zz"], "run": ["x"]}\n'
    syntax, need = problems_of(tmp_path, ("plan.jsonl", rows))
    assert "is not valid JSON" in syntax.message
    assert "'zz'" in need.message
    syntax, need = problems_of(
        tmp_path,
        ("plan.toml", '[[task]]\nid = "a"\nrun = [oops]\n'),
        ("more.yaml", "task:\n- {id: b, needs: [a, zz], run: [x]}\n"),
    )
    assert "is not valid TOML" in syntax.message
    assert "'zz'" in need.message


@pytest.mark.parametrize(
    ("settings", "field", "message"),
    [
        ("concurrency = 0", "concurrency", "must be at least 1, got 0"),
        ('concurrency = "4"', "concurrency", "must be a whole number, got '4'"),
        ("fail_fast = 1", "fail_fast", "must be true or false, got 1"),
        ("parents = { epic = 0 }", "parents.epic", "must be at least 1, got 0"),
        ("parents = { epik = 2 }", "parents.epik", "no task has the parent 'epik'"),
        ("colour = 3", "colour", "unknown field `colour`"),
        ('name = "\\u0000"', "name", "has a NUL byte"),
    ],
)
def test_bad_settings_of_the_plan_are_told(tmp_path: Path, settings: str, field: str, message: str) -> None:
    text = f'{GOOD}parent = "epic"\n[plan]\n{settings}\n'
    [problem] = problems_of(tmp_path, ("plan.toml", text))
    assert (problem.line, problem.field) == (6, field)
    assert message in problem.message


def test_files_of_one_plan_must_not_contradict_each_other(tmp_path: Path) -> None:
    [problem] = problems_of(
        tmp_path,
        ("one.toml", f"{GOOD}[plan]\nconcurrency = 3\n"),
        ("two.jsonl", '{"plan": {"concurrency": 4}}\n{"id": "b", "run": ["x"]}\n'),
    )
    assert problem.file.endswith("two.jsonl")
    assert "`concurrency` is set twice, got 4" in problem.message


def test_what_is_shown_of_a_value_is_printable_and_short(tmp_path: Path) -> None:
    [problem] = problems_of(tmp_path, ("p.jsonl", '{"id": "\\u001b[31m' + "x" * 150 + '", "run": ["x"]}\n'))
    assert problem.value.isprintable()
    assert len(problem.value) <= 64
    assert problem.message.isprintable()
