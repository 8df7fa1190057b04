"""The command's body: what it prints, and the plan it writes, read back by the plan reader."""

import contextlib
import json
from pathlib import Path

import pytest

from manyhands.core.claims import conflict, overlap
from manyhands.core.values.task import Claims, claims_of
from manyhands.errors import UsageError
from manyhands.sources.plans.plan_reading import read_plan
from manyhands.sources.split.leaf_tasks import claim_of
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.split import split_code_base
from manyhands.surfaces.cli.split_options import SplitOptions, SplitOutput
from sources.split.trees import write_files

ODD_NAMES = (
    "[id].tsx",
    "a{b,c}.py",
    "!x.py",
    "~y.py",
    "db:z.py",
    "c:w.py",
    " q.py",
    "tab\there.py",
    "star*.py",
    "ü.py",
)


def _split(path: Path | None, output: SplitOutput = SplitOutput.TREE, **more) -> None:
    with contextlib.chdir(path or "."):
        split_code_base(SplitOptions(path, output=output, **({"budget": 300} | more)), Settings())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_files(
        tmp_path / "project",
        {f"{place}/{name}.py": f"import {name}x\n" + "#" * 500 for place in ("src", "lib") for name in ("a", "b", "c")}
        | {"src/ax.py": "#" * 300, "lib/bx.py": "#" * 300},
    )


@pytest.mark.parametrize("suffix", [".toml", ".jsonl", ".json", ".yaml"])
def test_a_plan_has_a_task_for_each_leaf_and_the_plan_reader_takes_it(
    project: Path, tmp_path: Path, suffix: str, capsys
):
    plan = tmp_path / f"plan{suffix}"
    _split(project, SplitOutput.JSON, plan=plan, run="agent -p {prompt}", kind="refactor")
    leaves = [node for node in json.loads(capsys.readouterr().out)["nodes"] if not node["children"]]
    tasks = read_plan([plan]).tasks
    assert [task.id for task in tasks] == [leaf["id"] for leaf in leaves]
    assert [list(claims_of(task).write) for task in tasks] == [leaf["files"] for leaf in leaves]
    assert {(task.kind, task.run) for task in tasks} == {("refactor", ("agent", "-p", "{prompt}"))}
    assert all(file in task.prompt for task, leaf in zip(tasks, leaves, strict=True) for file in leaf["files"])
    assert {task.parent for task in tasks} == {leaf["parent"] for leaf in leaves}
    assert not any(conflict(one.claims, other.claims) for one in tasks for other in tasks if one is not other)


def test_neighbours_are_told_and_a_template_is_filled(tmp_path: Path):
    project = write_files(tmp_path / "p", {"a.py": "import b\n" + "#" * 900, "b.py": "#" * 900})
    template = tmp_path / "template.txt"
    template.write_text("Do {files} near {neighbours}, not {unknown}")
    _split(project, plan=tmp_path / "plan.jsonl", template=template)
    prompts = [task.prompt for task in read_plan([tmp_path / "plan.jsonl"]).tasks]
    assert prompts[0].startswith("Do - a.py (228 tokens) near - b.py (s")
    assert prompts[0].endswith(", not {unknown}")


def test_a_prompt_has_the_goal_the_files_with_sizes_the_neighbours_and_the_tests(tmp_path: Path):
    files = {"a.py": "#" * 1_000, "b.py": "import a\n" + "#" * 991, "test_a.py": "import a\n" + "#" * 991}
    project = write_files(tmp_path / "p", files)
    _split(project, plan=tmp_path / "plan.jsonl", goal="Use tabs everywhere.", max_files=1)
    prompt = next(task.prompt for task in read_plan([tmp_path / "plan.jsonl"]).tasks if "a.py" in task.title.split()[0])
    assert prompt.startswith("Use tabs everywhere.\n\nYour part is ")
    assert "Change only these files:\n- a.py (250 tokens)\n" in prompt
    assert "- b.py (s" in prompt
    assert "These tests cover your part:\n- test_a.py\n" in prompt
    assert "run these tests" in prompt


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_claim_holds_its_file_whatever_the_name(name: str):
    assert overlap(claim_of(name), claim_of(name))
    assert claim_of(name) != "**"
    assert not conflict(Claims(write=(claim_of(name),)), Claims(write=("other/file",)))


def test_odd_names_go_through_the_plan(tmp_path: Path):
    project = write_files(tmp_path / "p", dict.fromkeys(ODD_NAMES, "x" * 1_000))
    for suffix in ("toml", "yaml", "jsonl"):
        _split(project, plan=tmp_path / f"plan.{suffix}")
        assert len(read_plan([tmp_path / f"plan.{suffix}"]).tasks) == len(ODD_NAMES)


def test_the_tree_is_printed_with_sizes_and_a_summary(project: Path, capsys):
    _split(project)
    printed = capsys.readouterr()
    assert "8 files · 918 tokens (bytes / 4) · 4 leaves (at least 4) · depth 1" in printed.out
    assert printed.out.count("└─") == 1
    assert "note: no history to learn from" in printed.err


def test_dot_and_html_name_every_subplan(project: Path, capsys):
    _split(project, SplitOutput.JSON)
    ids = [node["id"] for node in json.loads(capsys.readouterr().out)["nodes"]]
    for output in (SplitOutput.DOT, SplitOutput.HTML):
        _split(project, output)
        shown = capsys.readouterr().out
        assert all(id in shown for id in ids)
    assert "http" not in shown.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_a_file_name_cannot_break_out_of_the_page(tmp_path: Path, capsys):
    _split(write_files(tmp_path / "p", {"x<script>.py": "x"}), SplitOutput.HTML)
    assert "x<script>" not in capsys.readouterr().out


def test_a_correction_says_what_it_kept(project: Path, tmp_path: Path, capsys):
    _split(project, SplitOutput.JSON)
    earlier = tmp_path / "tree.json"
    earlier.write_text(capsys.readouterr().out)
    (project / "src/new.py").write_text("import ax\n")
    _split(project, SplitOutput.JSON, correct=earlier)
    printed = capsys.readouterr()
    assert "1 gone, 1 new" in printed.err
    assert len(json.loads(printed.out)["nodes"]) == 5


def test_a_correction_keeps_the_bounds_of_its_tree_unless_others_are_typed(project: Path, tmp_path: Path, capsys):
    _split(project, SplitOutput.JSON, max_depth=3)
    printed = json.loads(capsys.readouterr().out)
    earlier = tmp_path / "tree.json"
    earlier.write_text(json.dumps(printed))
    _split(project, SplitOutput.JSON, correct=earlier, again=[printed["root"]], budget=None)
    again = json.loads(capsys.readouterr().out)
    assert again["settings"] == printed["settings"]
    assert [node["id"] for node in again["nodes"]] == [node["id"] for node in printed["nodes"]]
    _split(project, SplitOutput.JSON, correct=earlier, again=[printed["root"]], budget=2_000)
    wider = json.loads(capsys.readouterr().out)
    assert wider["settings"] == printed["settings"] | {"budget_tokens": 2_000}
    assert len(wider["nodes"]) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"graph": Path("g.json")}, "both a directory and a graph are given"),
        ({"plan": Path("plan.txt")}, "plan `plan.txt` has no known format"),
        ({"again": ("s1",)}, "`--again` names subplans of an earlier tree, but no tree is given"),
        ({"template": Path("nowhere")}, "template `nowhere` cannot be read"),
        ({"correct": Path("nowhere.json")}, "tree `nowhere.json` cannot be read"),
    ],
)
def test_wrong_options_are_refused_by_name(project: Path, more: dict, said: str):
    with pytest.raises(UsageError) as refused:
        _split(project, **more)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not a graph"),
        ('{"files": []}', "has no files"),
        ('{"files": [["a", 1], ["a", 2]]}', "has the file `a` twice"),
        ('{"files": [["a", 1]], "imports": [[0, 1]]}', "`imports` names file 1, but there are 1"),
        ('{"files": [["a", -1]]}', "is not a graph"),
        ("\x1f\x8b", "is not a graph"),
    ],
)
def test_a_broken_graph_is_refused_by_name(tmp_path: Path, text: str, said: str):
    graph = tmp_path / "graph.json"
    graph.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as refused:
        _split(None, graph=graph)
    assert said in refused.value.message
