"""`--concurrency N`: the peak is N, and 1 is the serial order, over and over."""

from e2e.stamps import BEGIN, END, order, peak
from surfaces.cli.console import Console, sh, shell_host

RUNS = 20
#: Begins, and ends only when ten have begun: were there room for fewer, it would wait in vain and fail.
TEN_MUST_MEET = f"""{BEGIN}
n=0; while [ "$(grep -c begin stamps.txt)" -lt 10 ]; do n=$((n+1)); [ $n -gt 600 ] && exit 1; sleep 0.05; done
sleep 0.2; {END}"""

MODULE = """
from pathlib import Path

async def note(context):
    with Path("order.txt").open("a") as file:
        file.write(f"{context.task}\\n")
"""


def test_fifteen_tasks_with_concurrency_ten_have_a_peak_of_exactly_ten(console: Console) -> None:
    console.config(shell_host(20))
    console.plan(sh(f"t{n}", TEN_MUST_MEET, attempts=1) for n in range(15))
    done = console.run("run", "plan.jsonl", "--concurrency", "10", "-o", "json")
    assert done.code == 0, done.err
    assert peak(console.directory) == 10
    assert (done.json["peak"], done.json["peaks"]) == (10, {"local": 10})


def mixed_plan() -> list[dict[str, object]]:
    """Priorities, needs in both directions and two kinds on two wide hosts: much that could change places."""
    tasks: list[dict[str, object]] = []
    for n in range(24):
        needs = [f"t{n - 3}"] if n % 4 == 3 else [f"t{n + 2}"] if n % 12 == 6 else []
        tasks.append({"id": f"t{n}", "kind": "ab"[n % 2], "priority": n * 7 % 5, "needs": needs})
    return tasks


def serial_order(tasks: list[dict[str, object]]) -> list[str]:
    """One at a time: of what may start, the most urgent, and of those the first in the plan."""
    done: list[str] = []
    left = list(tasks)
    while left:
        ready = [task for task in left if all(need in done for need in task["needs"])]  # type: ignore[attr-defined]
        task = min(ready, key=lambda task: task["priority"])  # type: ignore[arg-type,return-value]
        left.remove(task)
        done.append(str(task["id"]))
    return done


def test_concurrency_one_is_the_serial_order_byte_for_byte_over_twenty_runs(console: Console) -> None:
    hosts = [f'[hosts.{kind}]\ntype = "python"\nkinds = ["{kind}"]\nwidth = 8\n' for kind in "ab"]
    console.config("".join(hosts) + '[store]\ndurability = "crash"\n')
    console.write("notes.py", MODULE)
    tasks = mixed_plan()
    console.plan({**task, "call": "notes:note"} for task in tasks)
    expected = "".join(f"{id}\n" for id in serial_order(tasks))
    assert expected.split() != [task["id"] for task in tasks]
    script = (
        "import sys\n"
        "from manyhands.surfaces.cli.main import answer\n"
        f"for _ in range({RUNS}):\n"
        "    assert answer(['run', 'plan.jsonl', '--again', '--concurrency', '1', '-o', 'ids']) == 0\n"
        "    print('end of a run', flush=True)\n"
    )
    done = console.python(script)
    assert done.code == 0, done.err
    assert done.out == f"{expected}end of a run\n" * RUNS
    assert (console.directory / "order.txt").read_text() == expected * RUNS


def test_concurrency_one_is_the_serial_order_for_commands_of_each_own_process(console: Console) -> None:
    console.config(shell_host(8, "a", kinds=["a"]) + shell_host(8, "b", kinds=["b"]))
    tasks = mixed_plan()
    console.plan({**task, "run": ["sh", "-c", f"{BEGIN}; {END}"]} for task in tasks)
    expected = serial_order(tasks)
    for _ in range(2):
        done = console.run("run", "plan.jsonl", "--again", "--concurrency", "1", "-o", "ids")
        assert (done.code, done.ids) == (0, expected)
        assert order(console.directory) == expected
        assert peak(console.directory) == 1
        (console.directory / "stamps.txt").unlink()
