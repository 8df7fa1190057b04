"""What may start, seen from outside: a small plan for each rule, judged by the tasks' own time stamps."""

import json

from e2e.stamps import BEGIN, END, order, overlapped, peak, stamps
from surfaces.cli.console import Console, Done, sh, shell_host

BRIEF = f"{BEGIN}; sleep 0.1; {END}"


def meeting(n: int) -> str:
    """Begins, and ends when n have begun; in vain, it fails."""
    return f"""{BEGIN}
i=0; while [ "$(grep -c begin stamps.txt)" -lt {n} ]; do i=$((i+1)); [ $i -gt 400 ] && exit 1; sleep 0.05; done
{END}"""


def run(console: Console, *options: str, plan: str = "plan.jsonl") -> Done:
    done = console.run("run", plan, *options, "-o", "json")
    assert done.code == 0, done.err
    return done


def test_two_hosts_that_take_one_kind_share_it(console: Console) -> None:
    console.config(shell_host(1, "one") + shell_host(1, "other"))
    console.plan(sh(f"t{n}", meeting(2)) for n in range(2))
    assert run(console).json["peaks"] == {"one": 1, "other": 1}


def test_a_fallback_host_is_used_only_when_the_others_are_full(console: Console) -> None:
    console.config(shell_host(1, "usual") + shell_host(2, "spare", fallback=True))
    console.plan([sh("alone", "exit 0")], "alone.jsonl")
    assert run(console, plan="alone.jsonl").json["peaks"] == {"usual": 1}
    console.plan(sh(f"t{n}", meeting(3)) for n in range(3))
    assert run(console).json["peaks"] == {"usual": 1, "spare": 2}


def test_an_ordering_rule_keeps_a_kind_back_until_another_is_nearly_through(console: Console) -> None:
    console.config(shell_host(4) + '[[rules]]\nkind = "deploy"\nafter = "test"\nleft = 1\n')
    console.plan(
        [
            sh("deploy", BRIEF, kind="deploy", priority=0),
            sh("test-1", meeting(2), kind="test"),
            sh("test-2", f"{meeting(3)}", kind="test"),
        ]
    )
    run(console)
    # test-2 ends only after a third has begun: with one test left, the deployment went.
    assert order(console.directory)[-1] == "deploy"
    ends = {task: at for at, what, task in stamps(console.directory) if what == "end"}
    begins = {task: at for at, what, task in stamps(console.directory) if what == "begin"}
    assert ends["test-1"] < begins["deploy"] < ends["test-2"]


def test_a_barrier_has_its_host_alone(console: Console) -> None:
    console.config(shell_host(3))
    console.plan([sh("a", meeting(2)), sh("b", meeting(2)), sh("alone", BRIEF, barrier=True), sh("c", BRIEF)])
    run(console)
    assert overlapped(console.directory, "a", "b")
    assert not any(overlapped(console.directory, "alone", other) for other in "abc")


def test_a_parent_bounds_its_children_and_no_others(console: Console) -> None:
    console.config(shell_host(6))
    children = [sh(f"child-{n}", BRIEF, parent="epic", claims={}) for n in range(5)]
    others = [sh(f"other-{n}", meeting(5), claims={}) for n in range(3)]
    console.write("plan.yaml", json.dumps({"plan": {"parents": {"epic": 2}}, "task": [*others, *children]}))
    run(console, plan="plan.yaml")
    assert peak(console.directory, "child") == 2
    assert peak(console.directory) == 5


def test_conflicting_claims_take_turns_and_others_do_not_wait(console: Console) -> None:
    console.config(shell_host(4))
    writes, reads = {"write": ["src/auth/**"]}, {"read": ["src/auth/keys.py"]}
    console.plan(
        [
            sh("writer-1", BRIEF, claims=writes),
            sh("writer-2", BRIEF, claims=writes),
            sh("reader-1", meeting(4), claims=reads),
            sh("reader-2", meeting(4), claims=reads),
        ]
    )
    run(console)
    assert overlapped(console.directory, "reader-1", "reader-2")
    assert not overlapped(console.directory, "writer-1", "writer-2")
    for reader in ("reader-1", "reader-2"):
        assert not overlapped(console.directory, "writer-1", reader)
        assert not overlapped(console.directory, "writer-2", reader)


def test_a_critical_task_preempts_one_that_says_it_may_be(console: Console) -> None:
    console.config(shell_host(1, "gpu", kinds=["gpu"]) + shell_host(1, "cpu", kinds=["cpu"]))
    until_stopped = f'{BEGIN}; [ "$MANYHANDS_ATTEMPT_NUMBER" = 1 ] && sleep 1000; {END}'
    wait_for_long = f"while ! grep -q long stamps.txt; do sleep 0.05; done; {BEGIN}; {END}"
    console.plan(
        [
            sh("long", until_stopped, kind="gpu", priority=3, preemptible=True, attempts=1),
            sh("first", wait_for_long, kind="cpu"),
            sh("urgent", f"{BEGIN}; {END}", kind="gpu", priority=0, needs=["first"]),
        ]
    )
    run(console)
    assert order(console.directory) == ["long", "first", "urgent", "long"]
    history = console.book().runs["plan-1"].records["long"].history
    assert [str(tried.ending.kind) for tried in history] == ["preempted", "done"]


def test_fail_fast_cancels_what_waits_and_keeps_what_is_done(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("good", "exit 0"), sh("bad", "exit 3", attempts=1), *(sh(f"t{n}", "exit 0") for n in range(3))])
    done = console.run("run", "plan.jsonl", "--fail-fast", "-o", "json")
    assert done.code == 1
    counts = done.json["counts"]
    assert (counts["done"], counts["failed"], counts["cancelled"]) == (1, 1, 3)
    assert console.book().runs["plan-1"].records["t0"].cause.why == "fail_fast: bad failed"


def test_an_attempt_is_told_how_the_last_one_ended(console: Console) -> None:
    console.config(shell_host(1))
    learns = 'if [ "$MANYHANDS_LAST_ENDING" = failed ]; then echo "told: $0"; else echo "broken: line 7"; exit 1; fi'
    console.plan([sh("a", learns, "{last_detail}")])
    run(console)
    assert console.run("task", "log", "a").out == "told: exit 1: broken: line 7\n"
    assert console.run("task", "log", "a", "--attempt", "1").out == "broken: line 7\n"
