"""`manyhands runs log`: every event of one run, in words and as JSON, live and afterwards."""

import json

from surfaces.cli.console import Console, sh, shell_host


def test_the_log_tells_a_run_from_where_its_lanes_began_to_its_end(console: Console) -> None:
    console.config(shell_host(2))
    console.plan([sh("a", "exit 0"), sh("b", "exit 3", attempts=1), sh("c", "exit 0", needs=["b"])])
    assert console.run("run", "plan.jsonl").code == 1
    console.plan([sh("other", "exit 0")], "other.jsonl")
    assert console.run("run", "other.jsonl").code == 0
    lines = console.run("runs", "log", "plan-1").out.splitlines()
    told = [line.partition(" ")[2] for line in lines]
    assert told[0].startswith("action=opened run=plan-1")
    host, lane = [line for line in told if line.startswith("action=began")]
    assert host.startswith("action=began host=local width=2 why=")
    assert lane.startswith("action=began host=local kind=shell width=2 why=")
    assert told.index(lane) == 1 + next(n for n, line in enumerate(told) if line.startswith("action=started"))
    ended = [line for line in told if line.startswith("action=ended")]
    assert [line.split()[3:5] for line in ended if "task=b#1@local" in line] == [["kind=shell", "ending=failed"]]
    assert len(ended) == 2
    assert not any("other" in line for line in lines)


def test_every_line_is_json_with_the_event_in_it_and_no_secret(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "exit 0", env={"API_KEY": "hush-hush-hush-42"})])
    assert console.run("run", "plan.jsonl").code == 0
    done = console.run("runs", "log", "--output", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["text"] for row in rows] == console.run("runs", "log").out.splitlines()
    kinds = [row["event"]["type"] for row in rows]
    assert {"run", "submitted", "began", "started", "ended"} <= set(kinds), kinds
    lane = next(row["event"] for row in rows if row["event"]["type"] == "began" and "kind" in row["event"])
    assert (lane["host"], lane["kind"], lane["width"]) == ("local", "shell", 1)
    assert lane["why"]
    assert "hush-hush" not in done.out


def test_a_log_is_followed_until_its_run_has_ended(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "while [ ! -e go ]; do sleep 0.02; done")])
    running = console.start("run", "plan.jsonl")
    running.wait_until(lambda: "action=started" in console.run("runs", "log").out, "a to start")
    following = console.start("runs", "log", "--follow")
    (console.directory / "go").touch()
    assert running.end().code == 0
    done = following.end()
    assert done.code == 0, done.err
    assert "ending=done" in done.out
    assert done.out == console.run("runs", "log").out


def test_a_run_that_is_not_there_is_refused_by_name(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "exit 0")])
    console.run("run", "plan.jsonl")
    refused = console.run("runs", "log", "nightly-9")
    assert refused.code == 2
    assert "there is no run `nightly-9`" in refused.err


def test_the_log_tells_what_was_changed_what_was_skipped_and_the_end(console: Console) -> None:
    console.config(shell_host(1))
    hold = sh("hold", "while [ ! -e go ]; do sleep 0.02; done; exit 3", attempts=1)
    late = sh("late", "exit 0", needs=["hold"])
    draft = sh("draft", "exit 0", stage="draft", needs=["hold"])
    console.plan([hold, late, draft])
    running = console.start("run", "plan.jsonl")
    running.wait_until(lambda: "action=started" in console.run("runs", "log").out, "hold to start")
    for command in (("edit", "late", "--priority", "1", "--title", "Two words"), ("publish", "draft")):
        done = console.run("task", *command)
        assert done.code == 0, done.err
    (console.directory / "go").touch()
    assert running.end().code == 1
    lines = [line.partition(" ")[2] for line in console.run("runs", "log").out.splitlines()]
    assert 'action=changed task=late run=plan-1 priority=1 title="Two words"' in lines
    assert "action=changed task=draft run=plan-1 stage=none" in lines
    assert [line for line in lines if "skipped" in line][:-1] == [
        'action=skipped task=late run=plan-1 why="it needs `hold`, which failed"',
        'action=skipped task=draft run=plan-1 why="it needs `hold`, which failed"',
    ]
    assert lines[-1].startswith("action=run_ended run=plan-1 failed=1 skipped=2 took_s=")
    kinds = [json.loads(row)["event"]["type"] for row in console.run("runs", "log", "-o", "jsonl").out.splitlines()]
    assert kinds[-3:] == ["skipped", "skipped", "run_ended"]


def test_an_edit_of_the_plan_tells_which_fields_differ(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "exit 3", attempts=1), sh("b", "exit 0", needs=["a"])])
    assert console.run("run", "plan.jsonl").code == 1
    console.plan([sh("a", "exit 0", attempts=1, title="New"), sh("b", "exit 0", needs=["a"])])
    assert console.run("run", "plan.jsonl").code == 0
    lines = [line.partition(" ")[2] for line in console.run("runs", "log").out.splitlines()]
    assert "action=edited task=a run=plan-1 fields=title,run" in lines
    assert len([line for line in lines if line.startswith("action=run_ended")]) == 2


def test_what_later_dispatchers_do_is_not_in_the_log_of_a_run_that_had_ended(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "exit 0")])
    assert console.run("run", "plan.jsonl").code == 0
    before = console.run("runs", "log", "plan-1").out
    live = console.start("serve", "--port", "0")
    live.wait_for("action=serving")
    live.process.terminate()
    assert live.end().code == 0
    assert console.run("runs", "log", "plan-1").out == before
