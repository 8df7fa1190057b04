"""Hosts paused, resumed and pinned from the command line, whether anyone dispatches or not."""

from surfaces.cli.console import Console, sh, shell_host, wait_until


def test_a_paused_host_takes_nothing_until_it_is_resumed(console: Console) -> None:
    console.config(shell_host(2))
    assert "with the next `manyhands run`" in console.run("host", "pause", "local", "--why", "too hot").err
    console.plan([sh("a", "exit 0")])
    live = console.start("run", "plan.jsonl")
    wait_until(lambda: console.run("task", "-o", "ids").ids == ["a"], "the task")
    assert "paused: too hot" in console.run("task", "explain", "a").out + console.run("host").out
    assert console.run("host", "resume", "local").err == "host local takes tasks again\n"
    assert live.end().code == 0
    refused = console.run("host", "resume", "local")
    assert (refused.code, "is not paused" in refused.err) == (2, True)


def test_a_width_is_pinned_and_freed_again(console: Console) -> None:
    console.config(shell_host(4))
    console.run("host", "width", "local", "1")
    console.plan([sh(f"t{n}", "sleep 0.05") for n in range(4)])
    assert console.run("run", "plan.jsonl", "-o", "json").json["peak"] == 1
    console.run("host", "width", "local")
    console.plan([sh(f"u{n}", "sleep 0.05") for n in range(4)], "more.jsonl")
    assert console.run("run", "more.jsonl", "-o", "json").json["peak"] == 4


def test_a_host_that_is_not_there_is_named_with_those_that_are(console: Console) -> None:
    console.config(shell_host(1))
    refused = console.run("host", "pause", "locla")
    assert (refused.code, refused.err) == (2, "error: there is no host `locla`\nhint: did you mean `local`?\n")
    assert "width" in console.run("host", "width", "local", "0").err
