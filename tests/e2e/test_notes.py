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
