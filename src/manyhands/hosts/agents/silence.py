"""Tells when an agent is silent: it prints nothing, and none of its processes computes anything."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from manyhands.hosts.executors.process_source import Process
from manyhands.hosts.executors.process_table import cpu_s

#: A program that only waits takes less than this share of a core. opencode takes 1 to 2 % while its model is silent.
_IDLE_SHARE = 0.03
_LOOK_SHARE = 0.125  # of the time that it may be silent
_LOOK_MOST_S = 30.0


async def silent_for(
    idle: Callable[[], float],
    last_at: Callable[[], float],
    family: Callable[[], Awaitable[list[Process]]],
    alive: Callable[[float], object] = lambda at: None,
) -> None:
    """Returns once the agent has printed and computed nothing for as long as `idle` says then.

    `alive` is told at each look when there was last a sign of life.
    """
    every_s = min(_LOOK_MOST_S, idle() * _LOOK_SHARE)
    alive_at, seen_s, seen_at = time.monotonic(), 0.0, time.monotonic()
    while True:
        await asyncio.sleep(every_s)
        now = time.monotonic()
        if (printed_at := last_at()) > alive_at:
            alive_at = printed_at
            alive(alive_at)
        idle_s = idle()
        if now - alive_at < min(idle_s / 2, _LOOK_MOST_S):
            seen_at = 0.0  # it is clearly alive, so there is no need to look at its processes yet
            continue
        used_s = sum(cpu_s(process.pid) for process in await family())
        if seen_at and abs(used_s - seen_s) > _IDLE_SHARE * (now - seen_at):
            alive_at = now
            alive(alive_at)
        seen_s, seen_at = used_s, now
        if now - alive_at >= idle_s:
            return
