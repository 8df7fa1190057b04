"""What tasks save and keep, from the plan to the report, on each kind of host that answers."""

import json
from pathlib import Path

import pytest

from hosts.landing.project import Project
from manyhands.core.values.task import Claims, Task, claims_of
from manyhands.sources.plans.plan_reading import PlanRefused, read_plan
from surfaces.cli.console import Console, console, sh, shell_host

__all__ = ["console"]

PYTHON_HOST = '\n[hosts.python]\ntype = "python"\n'


def test_commands_and_functions_save_their_answers(console: Console) -> None:
    console.config(shell_host(2) + PYTHON_HOST)
    console.write("made.py", "def text():\n    return 'Grüße\\n'\n\ndef table():\n    return {'a': 1}\n")
    (console.directory / "out.link").symlink_to("/tmp")
    console.plan(
        [
            sh(
                "a",
                "seq 20000; mkdir -p build; echo x > build/a.html",
                save="docs/{kind}/{id}.md",
                keep=["build/*.html"],
            ),
            sh("silent", "true", save="docs/{id}.md", attempts=1),
            sh("lazy", "echo hello", keep=["reports/*.html"], attempts=1),
            sh("checked", "echo bad", check=["grep", "-q", "good", "docs/checked"], save="docs/checked", attempts=1),
            sh("told", "echo good", check=["sh", "-c", 'grep -q good "$MANYHANDS_RESULT_FILE"'], save="told.txt"),
            sh("out", "echo x", save="out.link/a", attempts=1),
            sh("inside", "echo x", save=".manyhands/a", attempts=1),
            {"id": "text", "call": "made:text", "save": "text.txt"},
            {"id": "table", "call": "made:table", "save": "table.json"},
        ]
    )
    assert console.run("run", "plan.jsonl").code == 1
    place = console.directory
    assert (place / "docs/shell/a.md").read_text() == "".join(f"{number}\n" for number in range(1, 20_001))
    assert (place / "text.txt").read_text() == "Grüße\n"
    assert json.loads((place / "table.json").read_text()) == {"a": 1}
    assert (place / "told.txt").read_text() == "good\n"
    assert not (place / "docs/checked").exists()
    records = console.book().runs["plan-1"].records
    states = {id: str(record.state) for id, record in records.items()}
    done = dict.fromkeys(("a", "told", "text", "table"), "done")
    assert states == done | dict.fromkeys(("silent", "lazy", "checked", "out", "inside"), "failed")
    assert "no answer" in records["silent"].cause.why
    assert "left no file that matches `reports/*.html`" in records["lazy"].cause.why
    assert "link" in records["out"].cause.why
    assert "inside the store" in records["inside"].cause.why
    shown = console.run("task", "show", "a", "--output", "json").json
    saved, kept = shown["attempts"][0]["artefacts"]
    assert (saved["path"], saved["size_bytes"], saved["copy"]) == ("docs/shell/a.md", 108_894, "")
    assert Path(kept["copy"]).read_text() == "x\n"
    assert shown["claims"] == ["write docs/shell/a.md", "write build/*.html"]
    assert "file docs/shell/a.md (108,894 bytes)" in console.run("task", "show", "a").out


async def test_an_answer_lands_with_the_other_work_of_a_worktree(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", {"README.md": "hello\n", ".gitignore": "build\n"})
    project.config()
    script = "echo '# done'; mkdir build; echo page > build/a.html; echo more >> README.md"
    task = Task(
        "a",
        run=("sh", "-c", script),
        kind="shell",
        claims=Claims(write=("README.md",)),
        workspace="worktree",
        save="docs/a.md",
        keep=("build/*.html",),
        check=("sh", "-c", "grep -q more README.md"),
    )
    run = await project.run(task)
    ending = run.records["a"].last_ending
    assert ending is not None
    assert "landed" in ending.detail
    assert "outside its claims" not in ending.detail
    assert project.read("docs/a.md") == "# done\n"
    assert project.changes() == ""
    assert [one.path for one in ending.artefacts] == ["docs/a.md", "build/a.html"]
    assert not (project.directory / "build").exists()


def test_what_is_saved_and_kept_is_claimed() -> None:
    prompt = Task("a", prompt="?", save="docs/a.md", keep=("x/*",))
    assert claims_of(prompt) == Claims(write=("docs/a.md", "x/*"))
    assert claims_of(Task("a", run=("true",), save="docs/a.md")).write == ("**",)
    own = Task("a", run=("true",), workspace="worktree", save="docs/a.md", keep=("x/*",))
    assert claims_of(own) == Claims(write=("docs/a.md",)), "others cannot see what is kept of a worktree"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"save": "../a.md"}, "leaves the workspace"),
        ({"save": "/etc/passwd"}, "must be relative to the workspace"),
        ({"save": "docs/*.md"}, "must be the path of one file"),
        ({"save": "docs/"}, "must be the path of one file"),
        ({"save": "db:main"}, "must be the path of one file"),
        ({"save": ".git/hooks/pre-commit"}, "must not be inside `.git`"),
        ({"keep": ["../*"]}, "leaves the workspace"),
        ({"keep": ["db:main"]}, "must be a path or a glob"),
        ({"keep": "build/*"}, "must be a list of strings"),
    ],
)
def test_bad_places_are_refused(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    (tmp_path / "plan.jsonl").write_text(json.dumps({"id": "a", "prompt": "?", **fields}) + "\n")
    with pytest.raises(PlanRefused) as refused:
        read_plan([tmp_path / "plan.jsonl"])
    assert message in refused.value.problems[0].message


def test_fields_are_filled_in_and_paths_made_plain(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('[[task]]\nid = "a"\nprompt = "?"\nsave = "./docs//{kind}/{id}.md"\n')
    assert read_plan([tmp_path / "plan.toml"]).tasks[0].save == "docs/text/a.md"
