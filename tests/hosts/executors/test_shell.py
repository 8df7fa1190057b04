"""Commands: what they are told, what is kept of what they say, and that nothing of them is left behind."""

import asyncio
import os
import signal
import stat
import sys
from pathlib import Path

import psutil
import pytest

from hosts.executors.desk import Desk
from hosts.executors.stages import GRACE_S, Stage
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.attempt_steps import ending_of
from manyhands.hosts.executors.process import Exit
from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings


def sh(script: str, *arguments: str, **fields: object) -> Task:
    return Task("a-task", run=("sh", "-c", script, "sh", *arguments), **fields)  # type: ignore[arg-type]


async def said(shell: Stage, task: Task, number: int = 1, last: Ending | None = None) -> str:
    ending = await shell.desk.run(task, number, last)
    assert ending.kind is EndingKind.DONE, ending
    return ending.tail


# What a command is told


async def test_fields_are_filled_into_single_arguments_and_never_read_by_a_shell(shell: Stage) -> None:
    nasty = """$(touch pwned); `touch pwned` "'; touch pwned #\n* {id}"""
    task = Task("a-task", run=("printf", "<%s>", "{prompt}", "x{id}y"), prompt=nasty)
    assert await said(shell, task) == f"<{nasty}><xa-tasky>"
    assert not (shell.workspace / "pwned").exists()


async def test_every_field_is_known_and_others_stay_as_they_are(shell: Stage) -> None:
    fields = "{id}|{title}|{kind}|{attempt}|{last_ending}|{last_detail}|{last_output}|{unknown}|{ print $1 }|{}"
    task = Task("a", title="T", kind="k", run=("printf", "%s", fields))
    assert await said(shell, task) == "a|T|k|1||||{unknown}|{ print $1 }|{}"
    last = Ending(EndingKind.TIMED_OUT, "too slow", tail="half done")
    assert await said(shell, task, 2, last) == "a|T|k|2|timed_out|too slow|half done|{unknown}|{ print $1 }|{}"


async def test_the_directory_of_the_attempt_is_absolute_and_there(shell: Stage) -> None:
    assert await said(shell, sh('cd /; cd "$1"; pwd', "{directory}")) == f"{shell.desk.directory(1)}\n"


async def test_the_environment_tells_of_the_task_and_of_the_last_attempt(shell: Stage) -> None:
    last = Ending(EndingKind.FAILED, "exit 1: no", tail="l1\nl2\n")
    script = 'printf "%s|" "$MANYHANDS_TASK" "$MANYHANDS_RUN" "$MANYHANDS_ATTEMPT_NUMBER" "$MANYHANDS_LAST_ENDING" \
        "$MANYHANDS_LAST_DETAIL" "$MANYHANDS_LAST_OUTPUT"'
    assert await said(shell, sh(script), 3, last) == "a-task|a-run|3|failed|exit 1: no|l1\nl2\n|"


async def test_a_prompt_comes_in_a_variable_and_in_a_file(shell: Stage) -> None:
    task = sh('printf %s "$MANYHANDS_PROMPT"; printf "|"; cat "$MANYHANDS_PROMPT_FILE"', prompt="do it {id}")
    assert await said(shell, task) == "do it {id}|do it {id}"


async def test_a_prompt_too_long_for_a_variable_is_in_the_file_alone(shell: Stage) -> None:
    task = sh('test -z "$MANYHANDS_PROMPT" && wc -c < "$MANYHANDS_PROMPT_FILE"', prompt="x" * 3_000_000)
    assert int(await said(shell, task)) == 3_000_000


async def test_the_tasks_environment_goes_over_the_dispatchers(shell: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_DISPATCHER", "1")
    monkeypatch.setenv("BOTH", "dispatcher")
    monkeypatch.setenv("MANYHANDS_LAST_DETAIL", "of an outer attempt")
    task = sh('echo "$FROM_DISPATCHER $BOTH $MANYHANDS_LAST_DETAIL"', env={"BOTH": "task"})
    assert await said(shell, task) == "1 task \n"


async def test_the_hosts_environment_goes_between(shell: Stage, tmp_path: Path) -> None:
    settings = ShellSettings(workspace=shell.workspace, env={"A": "host", "B": "host"})
    desk = Desk(lambda s, e: ShellExecutor(settings, s, e), tmp_path / "others", settings.journal)
    ending = await desk.run(sh('echo "$A $B"', env={"B": "task"}))
    assert ending.tail == "host task\n"


async def test_variables_whose_names_a_shell_would_drop_arrive(shell: Stage) -> None:
    task = Task("t", run=("env",), env={"with.dots": "a b", "with-dash": "c"})
    assert {"with.dots=a b", "with-dash=c"} <= set((await said(shell, task)).splitlines())


async def test_the_command_runs_in_its_own_directory_of_the_workspace(shell: Stage) -> None:
    (shell.workspace / "deep" / "down").mkdir(parents=True)
    task = Task("t", run=("./here.sh",), workspace="deep", cwd="down")
    script = shell.workspace / "deep" / "down" / "here.sh"
    script.write_text("#!/bin/sh\npwd\n")
    script.chmod(0o755)
    assert await said(shell, task) == f"{script.parent}\n"


async def test_nothing_is_to_be_had_from_stdin(shell: Stage) -> None:
    assert await said(shell, Task("t", run=("wc", "-c"))) == "0\n"


async def test_no_descriptor_of_the_dispatcher_reaches_the_command(shell: Stage) -> None:
    listing = await said(shell, Task("t", run=(sys.executable, "-c", "import os; print(os.listdir('/dev/fd'))")))
    assert listing == "['0', '1', '2', '3']\n", "3 is the listing itself"


# What is refused


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (Task("t", run=("no-such-agent", "-p")), "command `no-such-agent` not found"),
        (Task("t", run=("./missing.sh",)), "command `./missing.sh` not found"),
        (Task("t", run=("/etc/passwd",)), "`/etc/passwd` is not executable; `chmod +x`"),
        (Task("t", run=("echo", "{prompt}"), prompt="x" * 200_000), "longer than the system takes"),
        (Task("t", run=("echo", "a\0b")), "holds a NUL"),
        (Task("t", run=("echo",), env={"A": "a\0b"}), "holds a NUL"),
        (Task("t", run=("true",), cwd="nowhere"), "does not exist"),
    ],
)
async def test_what_cannot_be_started_fails_for_good_and_says_what_to_do(shell: Stage, task: Task, said: str) -> None:
    ending = await shell.desk.run(task)
    assert ending.kind is EndingKind.FAILED
    assert ending.permanent
    assert said in ending.detail
    assert shell.desk.spawned == []


async def test_the_tasks_own_path_is_searched(shell: Stage) -> None:
    tool = shell.workspace / "bin" / "my-agent"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    task = Task("t", run=("my-agent",), env={"PATH": f"{tool.parent}:{os.environ['PATH']}"})
    assert await said(shell, task) == "found\n"


# What is kept of what it says


async def test_output_of_both_kinds_is_in_the_log_in_order(shell: Stage) -> None:
    task = sh("echo out; echo err >&2; echo out again", check=("echo", "checked"))
    await said(shell, task)
    log = (shell.desk.directory(1) / "output.log").read_text()
    assert log == "out\nerr\nout again\n$ echo checked\nchecked\n"


async def test_a_log_can_be_followed_while_the_command_runs(shell: Stage) -> None:
    log = shell.desk.directory(1) / "output.log"
    attempt = shell.desk.start(sh("echo begun; sleep 1000"))
    await shell.desk.until(lambda: log.exists() and log.read_text() == "begun\n")
    shell.desk.executor.stop(attempt)
    ending = await shell.desk.ending(attempt)
    assert ending.tail == "begun\n", "what is stopped tells how far it got"


async def test_a_flood_of_output_goes_to_the_log_and_not_through_us(shell: Stage) -> None:
    before = psutil.Process().memory_info().rss
    ending = await shell.desk.run(sh("yes 0123456789abcde | head -c 50000000; echo; echo the end"))
    assert ending.kind is EndingKind.DONE
    assert (shell.desk.directory(1) / "output.log").stat().st_size == 50_000_009
    assert len(ending.tail) <= 2048
    assert ending.tail.startswith("0123456789abcde\n")
    assert ending.tail.endswith("the end\n")
    assert psutil.Process().memory_info().rss - before < 25_000_000


async def test_output_that_is_no_text_is_made_fit_to_keep(shell: Stage) -> None:
    ending = await shell.desk.run(sh(r"printf 'a\0b\377\n'; exit 1"))
    assert ending.tail == "ab�\n"
    assert ending.detail == "exit 1: ab�"


async def test_one_endless_line_is_cut(shell: Stage) -> None:
    ending = await shell.desk.run(sh("head -c 100000 /dev/zero | tr '\\0' x; exit 1"))
    assert ending.tail == "x" * 2048
    assert len(ending.detail) <= 320


async def test_a_signal_is_named(shell: Stage) -> None:
    ending = await shell.desk.run(sh("echo so far; kill -SEGV $$"))
    assert ending.detail == "killed by signal 11 (Segmentation fault): so far"
    assert ending.exit_code == -11


async def test_killed_by_another_hand_is_not_done(shell: Stage) -> None:
    ending = await shell.desk.run(sh("kill -KILL $$"))
    assert ending.kind is EndingKind.FAILED
    assert ending.detail == "killed by signal 9 (out of memory?)"


@pytest.mark.parametrize("code", [-signal.SIGKILL, 128 + signal.SIGKILL])
def test_a_kill_while_the_kernel_killed_for_memory_is_overload(code: int) -> None:
    ending = ending_of(Exit(code, 0, out_of_memory=True), "", stopped=False)
    assert ending.kind is EndingKind.OVERLOADED
    assert ending.detail == "killed by the kernel for lack of memory"
    assert ending_of(Exit(1, 0, out_of_memory=True), "", stopped=False).kind is EndingKind.FAILED


async def test_peak_memory_is_told_where_it_is_known(shell: Stage) -> None:
    script = "import sys; len(bytearray(b'x' * (400 << 20)))"
    ending = await shell.desk.run(Task("t", run=(sys.executable, "-c", script)))
    assert 400 << 20 <= ending.memory_bytes < 1500 << 20
    small = await shell.desk.run(Task("t", run=("true",)))
    assert small.memory_bytes == 0, "a child is charged with its maker's own memory: that is not known to be its"


# That nothing is left behind


async def test_what_ignores_sigterm_is_killed_after_the_grace(shell: Stage) -> None:
    loop = asyncio.get_running_loop()
    attempt = shell.desk.start(sh("trap '' TERM; touch flags/x; while :; do sleep 0.1; done"))
    await shell.desk.until(shell.running)
    asked_at = loop.time()
    shell.desk.executor.stop(attempt)
    ending = await shell.desk.ending(attempt)
    assert loop.time() - asked_at >= GRACE_S
    assert ending.kind is EndingKind.CANCELLED
    assert ending.exit_code == -signal.SIGKILL
    assert shell.desk.alive() == []


async def test_what_heeds_sigterm_has_its_grace_to_clean_up(shell: Stage) -> None:
    task = sh("trap 'sleep 0.1; echo tidied; exit 0' TERM; touch flags/x; while :; do sleep 0.05; done")
    attempt = shell.desk.start(task)
    await shell.desk.until(shell.running)
    shell.desk.executor.stop(attempt)
    ending = await shell.desk.ending(attempt)
    assert ending.kind is EndingKind.CANCELLED
    assert ending.tail.endswith("tidied\n")


#: A length of sleep by which this process's families are known from those of tests beside it.
LIFE_S = str(1_000_000 + os.getpid())
FAMILIES = {
    "grandchildren": "(sleep LIFE & sleep LIFE & wait) & ",
    "a daemon": "setsid sh -c 'sleep LIFE & sleep LIFE' & ",
    "an orphaned daemon": "setsid sh -c 'setsid sleep LIFE & exit' & ",
    "one without our marker": "env -i setsid sleep LIFE & ",
    "stubborn ones": """setsid sh -c "trap '' TERM; while :; do sleep 0.1; : LIFE; done" & """,
    "stopped ones": "sh -c 'kill -STOP $$; sleep LIFE' & ",
}


@pytest.mark.parametrize("family", FAMILIES)
async def test_all_it_started_dies_with_what_is_stopped(shell: Stage, family: str) -> None:
    script = FAMILIES[family].replace("LIFE", LIFE_S)
    attempt = shell.desk.start(sh(f"{script} sleep 0.3; touch flags/x; wait; sleep 1000"))
    await shell.desk.until(shell.running)
    assert _members() != []
    shell.desk.executor.stop(attempt)
    await shell.desk.ending(attempt)
    assert _members() == []
    assert shell.desk.alive() == []


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "one without our marker"])
async def test_all_it_left_behind_dies_before_its_ending(shell: Stage, family: str) -> None:
    script = FAMILIES[family].replace("LIFE", LIFE_S)
    ending = await shell.desk.run(sh(f"{script} sleep 0.1; echo parting; exit 4"))
    assert _members() == []
    assert shell.desk.alive() == []
    assert (ending.kind, ending.detail) == (EndingKind.FAILED, "exit 4: parting")


async def test_the_long_lived_are_looked_through_as_well(shell: Stage) -> None:
    ending = await shell.desk.run(sh("setsid sleep 1000 & sleep 1.2"))
    assert ending.kind is EndingKind.DONE
    assert shell.desk.alive() == []


async def test_one_attempts_end_does_not_touch_its_siblings(shell: Stage) -> None:
    sibling = shell.desk.start(shell.hangs())
    await shell.desk.until(shell.running)
    for script in ("setsid sleep 1000 & exit 1", "kill -KILL $$", "kill -TERM 0"):
        await shell.desk.run(sh(script))
    stopped = shell.desk.start(shell.hangs())
    shell.desk.executor.stop(stopped)
    await shell.desk.ending(stopped)
    assert shell.desk.endings(sibling) == []
    assert len(shell.desk.alive()) == 1


async def test_a_dispatcher_inside_an_attempt_hands_the_outer_marker_down(
    shell: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANYHANDS_ATTEMPT", "outer.1")
    assert await said(shell, sh('echo "$MANYHANDS_ATTEMPT"')) == f"outer.1/{shell.desk.journal}.1\n"


def _members() -> list[int]:
    """The processes of a family started by this test process, whatever became of their markers."""
    alive = psutil.process_iter(["cmdline", "status"])
    return [
        process.pid
        for process in alive
        if any(LIFE_S in word for word in process.info["cmdline"] or ())
        and process.info["status"] != psutil.STATUS_ZOMBIE
    ]
