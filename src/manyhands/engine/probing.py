"""Looks at the hosts whose width the clutch finds while anything is in flight there: each second, or more often."""

import asyncio
import os
from collections.abc import Mapping
from functools import partial

from manyhands.core.book import Book
from manyhands.core.events import HostRead
from manyhands.core.learning import LAUNCH_LOOK_S, is_adaptive, look_every_s
from manyhands.core.state import HostState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.hosts.probes.command_probe import CommandProbe
from manyhands.hosts.probes.local import AttemptsNow
from manyhands.hosts.probes.probe import Probe
from manyhands.hosts.probes.probe_choice import probe_for
from manyhands.hosts.probes.remote_probe import RemoteProbe
from manyhands.sources.config.config_types import Config, HostConfig, OpenaiHost

#: A command may have printed anything.
TROUBLE_CHARACTERS_MAX = 200


class Probing:
    """An idle host is not read: idleness teaches nothing."""

    def __init__(self, dispatcher: Dispatcher, probes: Mapping[str, Probe | None]) -> None:
        """`probes` has every host whose width the clutch sets; None for a host that shows nothing."""
        self._dispatcher = dispatcher
        self._probes = probes
        self._looked_at: dict[str, float] = {}
        self._troubles: dict[str, str] = {}  # as last told in this session
        self._task = asyncio.create_task(self._look())

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
        for probe in self._probes.values():
            if probe is not None:
                await probe.close()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LAUNCH_LOOK_S)
            now = self._dispatcher.clock.now()
            if due := [host for name in self._probes if (host := self._due(name, now)) is not None]:
                await asyncio.gather(*(self._look_at(host, now) for host in due))

    def _due(self, name: str, now: float) -> HostState | None:
        """The host, if it is at work and was not looked at for a while."""
        host = self._dispatcher.book.hosts.get(name)
        if host is None or not host.running:
            return None
        is_due = now - self._looked_at.get(name, 0.0) >= look_every_s(host) - 0.5 * LAUNCH_LOOK_S
        return host if is_due else None

    async def _look_at(self, host: HostState, now: float) -> None:
        name, probe = host.name, self._probes[host.name]
        self._looked_at[name] = now
        reading = await probe.read(now) if probe is not None else None
        trouble = self._dispatcher.sealing.of_text(probe.trouble[:TROUBLE_CHARACTERS_MAX]) if probe is not None else ""
        # A session begins with what is wrong, also if the one before has told it.
        is_news = trouble != self._troubles.get(name, "") or (name not in self._troubles and host.probe_trouble != "")
        self._troubles[name] = trouble
        told = HostRead(self._dispatcher.clock.now(), name, reading, trouble if is_news else None)
        self._dispatcher.tell(told)


def configured_probes(config: Config, book: Book) -> dict[str, Probe | None]:
    return {
        host.name: probe_of(host, partial(_pids, book, host.name))
        for host in config.hosts
        if is_adaptive(host.core_host())
    }


def probe_of(host: HostConfig, attempts: AttemptsNow = dict) -> Probe | None:
    url, key, memory_bytes = "", "", None
    if isinstance(host, OpenaiHost):
        url, key = host.url, os.environ.get(host.api_key_env, "") if host.api_key_env else ""
        memory_bytes = None if host.memory_gb is None else int(host.memory_gb * 1e9)
        if host.probe.run:
            return CommandProbe(host.probe.run)
        if host.probe.url:
            token = os.environ.get(host.probe.token_env, "") if host.probe.token_env else ""
            return RemoteProbe(host.probe.url, token)
    name = host.probe if isinstance(host.probe, str) else host.probe.name
    return probe_for(name, url=url, api_key=key, attempts=attempts, memory_bytes=memory_bytes)


def _pids(book: Book, host: str) -> Mapping[int, int]:
    running = book.hosts[host].running
    return {attempt: one.process.pid for attempt, one in running.items() if one.process is not None}
