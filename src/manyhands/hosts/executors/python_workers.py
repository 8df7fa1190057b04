"""The dispatcher's side of worker processes: one per attempt in flight, reused if it comes back clean.

An idle worker is the gate: it gets a call only once its process is on record for that attempt.
"""

import asyncio
import json
import pickle
import socket
import subprocess
import time
from functools import partial
from pathlib import Path

import msgspec

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.attempt_steps import (
    LOG_FILE,
    CannotStart,
    ProcessSettings,
    ending_of,
    refusal_of,
    working_directory,
)
from manyhands.hosts.executors.executor import ProcessSpawned
from manyhands.hosts.executors.function import Context, FunctionOutcome
from manyhands.hosts.executors.output_text import tail_of
from manyhands.hosts.executors.process import Exit, ProcessGroup, marked, marker_of
from manyhands.hosts.executors.process_table import Census
from manyhands.hosts.executors.python_worker import BEGUN, HEADER, FunctionCall, Reply, command
from manyhands.hosts.executors.reading_aside import read_aside
from manyhands.hosts.executors.said_ending import as_printed, as_said, report_variables
from manyhands.hosts.executors.template import environment
from manyhands.hosts.executors.usage import with_usage


class PythonWorkers:
    def __init__(self, settings: ProcessSettings, idle_max: int, spawned: ProcessSpawned, census: Census) -> None:
        self._settings = settings
        self._idle_max = idle_max
        self._spawned = spawned
        self._census = census
        self._idle: list[_Worker] = []
        self._busy: dict[int, _Worker] = {}
        self._burying: set[asyncio.Task[tuple[Exit, bool]]] = set()  # of workers that died while idle

    def release(self, attempt: int) -> None:
        worker = self._busy.get(attempt)
        if worker is not None:
            worker.released.set()

    async def call(self, order: StartAttempt, directory: Path) -> Ending:
        """Have the order's function called. If this is cancelled, the worker is ended and the ending says so."""
        marker = marker_of(self._settings.journal, order.attempt)
        try:
            request = _request(order, directory.absolute(), self._settings, marker)  # noqa: ASYNC240
            ending = None
            while ending is None:
                ending = await self._carry(self._take(), order.attempt, marker, request)
        except CannotStart as refusal:
            return refusal.ending
        return await read_aside(partial(_as_told, ending, directory, Path(request.log), self._settings.overloaded))

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        for worker in idle:
            worker.group.stop()
        await asyncio.gather(*(worker.gone() for worker in idle), *self._burying)

    async def _carry(self, worker: "_Worker", attempt: int, marker: str, request: FunctionCall) -> Ending | None:
        """How the call ended. None: the worker was alive when it was chosen, but died before the call."""
        self._busy[attempt] = worker
        worker.group.begin_attempt(marker)
        self._spawned(attempt, worker.group.handle)
        try:
            return await self._ending(worker, request)
        finally:
            del self._busy[attempt]

    async def _ending(self, worker: "_Worker", request: FunctionCall) -> Ending | None:
        reply = None
        stopped = False
        served_before = worker.has_begun
        worker.has_begun = False
        try:
            await worker.released.wait()
            reply = await worker.ask(request)
            if reply is not None and reply.clean and not await worker.group.left_behind():
                worker.released.clear()
                if len(self._idle) < self._idle_max:
                    self._idle.append(worker)
                    return reply.outcome.ending()
        except asyncio.CancelledError:
            stopped = True
        if reply is not None or stopped:
            worker.group.stop()
        exit, stopped_later = await worker.gone()
        if reply is not None and not stopped:
            return reply.outcome.ending()
        if served_before and not worker.has_begun and not (stopped or stopped_later):
            return None
        if exit.code == 0 and not stopped:
            return Ending(EndingKind.FAILED, "its process exited before the function returned", exit_code=0)
        return ending_of(exit, tail_of(Path(request.log)), stopped or stopped_later)

    def _take(self) -> "_Worker":
        while self._idle:
            worker = self._idle.pop()
            if worker.group.is_alive:
                return worker
            burial = asyncio.create_task(worker.gone())
            self._burying.add(burial)
            burial.add_done_callback(self._burying.discard)
        ours, theirs = socket.socketpair()
        argv = command(theirs.fileno())
        try:
            popen = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=self._settings.workspace,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
            group = ProcessGroup(popen, "", self._settings.grace_s, self._census)
        except OSError as error:
            ours.close()
            raise refusal_of(error, argv) from error
        finally:
            theirs.close()
        return _Worker(group, ours)


class _Worker:
    def __init__(self, group: ProcessGroup, channel: socket.socket) -> None:
        channel.setblocking(False)
        self.group = group
        self.released = asyncio.Event()
        self.has_begun = False  # to carry out its last request
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._watch = asyncio.create_task(self._hang_up_when_gone())

    async def ask(self, request: FunctionCall) -> Reply | None:
        """Its answer; None if it died instead."""
        content = pickle.dumps(request)
        try:
            await self._loop.sock_sendall(self._channel, HEADER.pack(len(content)) + content)
            self.has_begun = bool(await self._receive(len(BEGUN)))
            header = await self._receive(HEADER.size)
            outcome, clean = json.loads(await self._receive(HEADER.unpack(header)[0]))
        except (OSError, EOFError):
            return None
        return Reply(FunctionOutcome(*outcome), clean)

    async def gone(self) -> tuple[Exit, bool]:
        exit, stopped = await self.group.run_out()
        self._watch.cancel()
        self._channel.close()
        return exit, stopped

    async def _receive(self, size: int) -> bytes:
        content = b""
        while len(content) < size:
            more = await self._loop.sock_recv(self._channel, size - len(content))
            if not more:
                raise EOFError
            content += more
        return content

    async def _hang_up_when_gone(self) -> None:
        """Close the channel when the worker is gone, because a child of it may still hold the channel open."""
        await self.group.leader_gone()
        self._channel.shutdown(socket.SHUT_RDWR)


def _as_told(ending: Ending, directory: Path, log: Path, overloaded: str) -> Ending:
    """The ending with what the function wrote and printed of it."""
    ending = as_printed(with_usage(ending, directory, log), overloaded, log)
    ending = as_said(ending, directory, log, time.time())
    log_tail = tail_of(log)
    return ending if ending.tail or not log_tail else msgspec.structs.replace(ending, tail=log_tail)


def _request(order: StartAttempt, directory: Path, settings: ProcessSettings, marker: str) -> FunctionCall:
    task = order.task
    return FunctionCall(
        task.call,
        task.args or {},
        context_of(order, directory),
        marked(environment(order, directory, None, settings.env) | report_variables(directory), marker),
        str(working_directory(settings, task)),
        str(directory / LOG_FILE),
        bool(task.check or task.save),
    )


def context_of(order: StartAttempt, directory: Path) -> Context:
    last = order.last
    return Context(
        order.task.id,
        order.run,
        order.number,
        order.task.prompt,
        str(last.kind) if last else "",
        last.detail if last else "",
        last.tail if last else "",
        directory,
    )
