"""What a task notes is in the journal and reaches whoever looks, however its attempt ended."""

from surfaces.cli.console import Console, console, sh, shell_host

__all__ = ["console"]

NOTES = r"""printf 'decision: keep the old parser\nquestion: may <it> go?\n' >> "$MANYHANDS_NOTES_FILE"; exit {code}"""


def test_notes_are_in_the_task_the_review_and_the_handoff(console: Console) -> None:
    console.config(shell_host(2))
    console.plan([sh("a", NOTES.format(code=0), claims={}), sh("b", NOTES.format(code=3), attempts=1, claims={})])
    assert console.run("run", "plan.jsonl").code == 1
    assert console.run("task", "show", "b", "--output", "json").json["attempts"][0]["notes"] == [
        "decision: keep the old parser",
        "question: may <it> go?",
    ]
    assert "  decision: keep the old parser\n" in console.run("task", "show", "a").out
    review = console.run("review").out
    assert "## What the tasks noted" in review
    assert "2 times)" in review
    assert "&lt;it> go?" in review
    assert "may &lt;it&gt; go?" in console.run("review", "--output", "html").out
    told = console.run("handoff").out
    assert "## Decisions\n- keep the old parser (" in told
    assert "b is failed: " in told


ABOUT = """
[plan]
title = "Types everywhere"
goal = "mypy passes"
epics = { api = { title = "Typed API" } }
lessons = true

[[task]]
id = "c"
parent = "api"
prompt = "add hints"
kind = "ask"
claims = {}
"""


def test_a_plan_says_what_it_is_for_and_its_prompts_are_told_lessons(console: Console) -> None:
    agent = '[hosts.agent]\ntype = "agent"\nkinds = ["ask"]\nagent = { run = ["cat"] }\n'
    console.config(shell_host(2) + agent)
    lesson = """printf 'lesson: run codegen first\\n' >> "$MANYHANDS_NOTES_FILE\""""
    console.plan([sh("a", lesson, claims={})])
    assert console.run("run", "plan.jsonl").code == 0
    console.write("types.toml", ABOUT)
    assert console.run("run", "types.toml").code == 0, console.run("task", "show", "c").out
    assert "- run codegen first" in console.run("task", "log", "c").out
    review = console.run("review").out
    assert "Types everywhere" in review
    assert "Typed API" in console.run("review", "--output", "html").out
    assert "mypy passes" in console.run("handoff").out
