"""Commands of attempts, from argv to ending: the command of a shell task, and the `check` of any task."""

import asyncio
import errno
import os
import secrets
import shlex
import shutil
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.attempt_limits import LimitWatch, over_limit
from manyhands.hosts.executors.executor import ProcessSpawned
from manyhands.hosts.executors.output_text import last_line, tail_of_open
from manyhands.hosts.executors.process import (
    Exit,
    MakeProcess,
    ProcessGroup,
    keep_exit_statuses,
    marker_of,
    spawn_gated,
)
from manyhands.hosts.executors.process_source import Process
from manyhands.hosts.executors.process_table import Census
from manyhands.hosts.executors.said_ending import TRY_AGAIN_LATER, report_variables
from manyhands.hosts.executors.template import environment, filled
from manyhands.readers.plain_file import open_plain, write_plain
from manyhands.sources.config.host_fields import ProcessLimits

LOG_FILE = "output.log"
# No more processes, descriptors or memory just now: the host's state, not the task's fault.
_NO_ROOM = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
# How many processes are made before the first of them may continue, and how long the next waits for that at most.
# All of many at once would start with the last of them, end together, and be followed by as many at once.
_MADE_TOGETHER = 2
_UNTIL_RELEASED_S = 0.005


class ProcessSettings(Struct, frozen=True, kw_only=True):
    """Where and how a host's processes run; what every executor needs, if only for checks."""

    workspace: Path
    #: Names the journal in the environment of all processes, so that recovery finds its own and no others.
    journal: str = msgspec.field(default_factory=lambda: secrets.token_hex(8))
    grace_s: float = 5.0  # between SIGTERM and SIGKILL
    env: dict[str, str] = {}  # over the dispatcher's own environment
    limits: ProcessLimits = ProcessLimits()
    overloaded: str = ""  # a pattern: output that has it means that the attempt was refused for lack of room


class ProcessStreams(Struct, frozen=True, kw_only=True):
    """A command whose output somebody listens to: where its standard streams go, and how its process is made."""

    input: str
    output: int
    errors: int
    env: dict[str, str] = {}  # where nobody else sets them
    own_env: dict[str, str] = {}  # whatever others set
    make: Callable[[MakeProcess], Any] | None = None


class CannotStart(Exception):
    """The attempt ends before there is a process."""

    def __init__(self, detail: str, kind: EndingKind = EndingKind.FAILED) -> None:
        self.ending = Ending(kind, detail, permanent=kind is EndingKind.FAILED)


class AttemptSteps:
    """Runs one command at a time for each attempt, held at its gate until its process is on record."""

    def __init__(self, settings: ProcessSettings, spawned: ProcessSpawned) -> None:
        self._settings = settings
        self._spawned = spawned
        self._groups: dict[int, ProcessGroup] = {}
        self._commands = CommandSearch()
        self._making = asyncio.Semaphore(_MADE_TOGETHER)
        keep_exit_statuses()
        self.census = Census()

    def release(self, attempt: int) -> None:
        group = self._groups.get(attempt)
        if group is not None:
            group.release()

    async def run(
        self,
        order: StartAttempt,
        directory: Path,
        argv: Sequence[str],
        result_file: Path | None = None,
        streams: ProcessStreams | None = None,
    ) -> Ending:
        """Run the command to its end. Cancelled, it stops it and says so in the ending."""
        try:
            async with self._making:
                group, output, begin = self._spawn(order, directory, argv, result_file, streams)
                self._groups[order.attempt] = group
                self._spawned(order.attempt, group.handle)
                await group.released(_UNTIL_RELEASED_S)
        except CannotStart as refusal:
            return refusal.ending
        try:
            # Only a worktree is a workspace of its own.
            own = (directory, Path(order.task.workspace)) if order.task.workspace else (directory,)
            exit, stopped, reached = await self._run_out(group, output, begin, own)
            del self._groups[order.attempt]
            ending = ending_of(exit, tail_of_open(output, begin), stopped)
            return over_limit(ending, reached)
        finally:
            os.close(output)

    async def _run_out(
        self, group: ProcessGroup, output: int, begin: int, own: Sequence[Path]
    ) -> tuple[Exit, bool, str]:
        """How the command ended, whether it was stopped, and the limit that it was stopped for."""
        if not self._settings.limits.any_of_processes:
            return *await group.run_out(), ""
        running = asyncio.create_task(group.run_out())
        watch = LimitWatch(self._settings.limits, group, running, output, begin, own)
        try:
            return *await running, watch.reached
        finally:
            watch.close()

    async def family(self, attempt: int) -> list[Process]:
        """The processes of the attempt's command that are alive."""
        group = self._groups.get(attempt)
        return [] if group is None else await group.family()

    async def checked(
        self, ending: Ending, order: StartAttempt, directory: Path, result_file: Path | None = None
    ) -> Ending:
        """The ending of an attempt as its task's check leaves it: only what passes it is done."""
        if ending.kind is not EndingKind.DONE or not order.task.check:
            return ending
        verdict = await self.run(order, directory, order.task.check, result_file)
        if verdict.kind is EndingKind.DONE:
            return ending
        detail = _check_detail(verdict)
        return msgspec.structs.replace(
            ending,
            kind=verdict.kind,
            detail=detail,
            exit_code=verdict.exit_code,
            permanent=verdict.permanent,
            failed_check=_is_failure(verdict),
            tail=verdict.tail,
        )

    def _spawn(
        self,
        order: StartAttempt,
        directory: Path,
        argv: Sequence[str],
        result_file: Path | None,
        streams: ProcessStreams | None,
    ) -> tuple[ProcessGroup, int, int]:
        """The process, the open file its output goes to, and from which byte on."""
        settings, directory = self._settings, directory.absolute()
        is_check = argv is order.task.check
        cwd = working_directory(settings, order.task)
        env = environment(order, directory, result_file, settings.env)
        if not is_check:
            env |= report_variables(directory)
        if streams is not None:
            env = {**streams.env, **env, **streams.own_env}
        command = filled(argv, order, directory) if streams is None else list(argv)
        self._commands.find(command[0], "check" if is_check else "run", cwd, env)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if order.task.prompt:
                write_plain(directory / "prompt.txt", order.task.prompt.encode(errors="replace"))
            output = open_plain(directory / LOG_FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                if is_check:
                    os.write(output, f"$ {shlex.join(command)}\n".encode(errors="replace"))
                begin = os.fstat(output).st_size
                group = spawn_gated(
                    command,
                    env=env,
                    cwd=cwd,
                    marker=marker_of(settings.journal, order.attempt),
                    grace_s=settings.grace_s,
                    census=self.census,
                    output=output if streams is None else streams.output,
                    errors=None if streams is None else streams.errors,
                    input=os.devnull if streams is None else streams.input,
                    make=None if streams is None else streams.make,
                )
            except BaseException:
                os.close(output)
                raise
        except (OSError, ValueError) as error:
            raise refusal_of(error, command) from error
        return group, output, begin


def working_directory(settings: ProcessSettings, task: Task) -> Path:
    cwd = settings.workspace.absolute() / task.workspace / task.cwd
    if not cwd.is_dir():
        raise CannotStart(f"working directory `{cwd}` does not exist; make it, or fix `cwd` of the task")
    return cwd


def _is_failure(verdict: Ending) -> bool:
    return verdict.kind is EndingKind.FAILED


def _check_detail(verdict: Ending) -> str:
    """What a check that did not pass says of the attempt."""
    if verdict.exit_code is None:
        return f"check: {verdict.detail}"
    if _is_failure(verdict):
        return f"check failed ({_in_words(verdict.exit_code)}){_said(verdict.exit_code, verdict.tail)}"
    return verdict.detail


def ending_of(exit: Exit, tail: str, stopped: bool) -> Ending:
    """What the end of a process means for its attempt."""
    kind, detail = EndingKind.FAILED, ""
    if stopped:
        kind, detail = EndingKind.CANCELLED, "stopped"
    elif exit.code == 0:
        kind = EndingKind.DONE
    elif exit.code in (-signal.SIGKILL, 128 + signal.SIGKILL) and exit.out_of_memory:
        kind, detail = EndingKind.OVERLOADED, "killed by the kernel for lack of memory"
    elif exit.code == TRY_AGAIN_LATER:
        kind, detail = EndingKind.OVERLOADED, f"exit {exit.code}, which means try again later{_said(exit.code, tail)}"
    else:
        detail = f"{_in_words(exit.code)}{_said(exit.code, tail)}"
    return Ending(kind, detail, exit_code=exit.code, memory_bytes=exit.memory_bytes, tail=tail)


def _in_words(exit_code: int) -> str:
    if exit_code == -signal.SIGKILL:
        return "killed by signal 9 (out of memory?)"
    if exit_code < 0:
        return f"killed by signal {-exit_code} ({signal.strsignal(-exit_code)})"
    return f"exit {exit_code}"


def _said(exit_code: int, tail: str) -> str:
    """Its last line. One that was killed from outside had no time to say why."""
    last = "" if exit_code == -signal.SIGKILL else last_line(tail)
    return f": {last}" if last else ""


class CommandSearch:
    """Whether commands are there: said before the gate, because after it a missing one looks like one that exits with
    127. Where one was found it is looked for first: a long PATH costs as much as a start's other files together."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str] = {}

    def find(self, name: str, field: str, cwd: Path, env: dict[str, str]) -> None:
        if os.sep in name:
            where = str(cwd / name)
            if shutil.which(where) is not None:
                return
            if os.path.exists(where):
                raise CannotStart(f"`{where}` is not executable; `chmod +x` it, or name its interpreter first")
            looked = "" if os.path.isabs(name) else f": `{cwd}` was searched"
            raise CannotStart(f"command `{name}` not found{looked}; fix `{field}` of the task")
        path = env.get("PATH", os.defpath)
        if os.access(self._found.get((name, path), ""), os.X_OK):
            return
        found = shutil.which(name, path=path)
        if found is None:
            here = f"; `./{name}` names the one in `{cwd}`" if (cwd / name).is_file() else ""
            raise CannotStart(
                f"command `{name}` not found on PATH ({path}){here}; install it, or fix `{field}` of the task"
            )
        self._found[name, path] = found


def refusal_of(error: Exception, command: Sequence[str]) -> CannotStart:
    name = command[0]
    if isinstance(error, ValueError):
        return CannotStart(f"`{name}` cannot be started: an argument or variable holds a NUL or is not text ({error})")
    assert isinstance(error, OSError)
    if error.errno == errno.E2BIG:
        size = sum(len(argument.encode(errors="replace")) for argument in command)
        return CannotStart(
            f"`{name}` cannot be started: its arguments ({size:,} bytes) and environment are longer than the system"
            " takes; a long prompt is also in the file that MANYHANDS_PROMPT_FILE names"
        )
    if error.errno in _NO_ROOM:
        return CannotStart(f"`{name}` cannot be started now: {error.strerror}", EndingKind.OVERLOADED)
    refusal = CannotStart(f"`{name}` cannot be started: {error}")
    refusal.ending = msgspec.structs.replace(refusal.ending, permanent=False)  # a full disk may be emptied
    return refusal
