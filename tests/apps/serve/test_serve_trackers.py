"""`manyhands serve` on GitHub issues and on Markdown files, from the label to the comment."""

from pathlib import Path

from github_server import TOKEN, GithubServer
from surfaces.cli.console import Console, wait_until

CONFIG = """
[hosts.local]
type = "shell"
[[backlogs]]
github = {{ repository = "octo/hello", url = "{url}", token_env = "HELLO_TOKEN" }}
claims = {{}}
attempts = 1
run = ["sh", "-c", "echo worked on {{title}}; case '{{title}}' in *bad*) exit 3;; esac"]
[[backlogs]]
markdown = "tasks"
claims = {{}}
run = ["sh", "-c", "echo worked on {{title}}"]
"""


def test_issues_and_files_are_worked_on_and_told_how_it_went(console: Console) -> None:
    server = GithubServer()
    tasks = console.directory / "tasks"
    tasks.mkdir()
    (tasks / "first.md").write_text("# The first\n\nDo it.\n")
    (tasks / "broken.md").write_text("---\nstatus: maybe\n---\n")
    server.add(1, "a good one")
    server.add(2, "a bad one")
    server.add(3, "not for agents", labels=())
    console.config(CONFIG.format(url=server.url))
    ready = console.run("backlog", "ready", "--github", "octo/hello", HELLO_TOKEN=TOKEN)
    assert "issue-1" in ready.out
    assert "2 ready of 2 unfinished" in ready.out
    assert "first" in console.run("backlog", "ready", "--markdown", "tasks").out
    live = console.start("serve", "--port", "0", HELLO_TOKEN=TOKEN)
    try:
        wait_until(lambda: server.issues[1]["state"] == "closed", "the good issue")
        wait_until(lambda: "agent:failed" in server.labels(2), "the bad issue")
        wait_until(lambda: "status: done" in (tasks / "first.md").read_text(), "the file")
        (tasks / "second.md").write_text("Another one.\n")
        wait_until(lambda: "status: done" in (tasks / "second.md").read_text(), "a file that came later")
    finally:
        live.process.terminate()
        done = live.end()
        server.close()
    assert done.code == 0
    assert "worked on a good one" in server.comments[1][0]["body"]
    assert "exit 3: worked on a bad one" in server.comments[2][0]["body"]
    assert server.labels(3) == []
    assert "broken.md" in done.err
    assert len(server.comments[1]) == len(server.comments[2]) == 1
    for file in Path(console.store).rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file


def test_without_a_token_the_next_step_is_named(console: Console) -> None:
    console.write("gh", "#!/bin/sh\nexit 1\n").chmod(0o755)
    done = console.run("serve", "--github", "octo/hello", GITHUB_TOKEN="", PATH=f"{console.directory}:/usr/bin:/bin")
    assert done.code == 2
    assert "`GITHUB_TOKEN`, which is not set" in done.err
    done = console.run("serve", "--github", "hello", GITHUB_TOKEN=TOKEN)
    assert "must be OWNER/REPO" in done.err
