"""`manyhands.Engine`: opens an engine on a store, for async code or for code without a loop."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

from manyhands.assembly import BroughtHost, open_session
from manyhands.core.values.host import SERVICE, Host
from manyhands.errors import UsageError
from manyhands.hosts.executors.program_executor import ProgramExecutor
from manyhands.sources.config.config_reading import load_config
from manyhands.sources.config.database_url import is_url
from manyhands.surfaces.python.async_engine import AsyncEngine, ProgramCalls
from manyhands.surfaces.python.item_tasks import CallSettings
from manyhands.surfaces.python.sync_engine import SyncEngine


class Engine:
    """An engine that is not open yet: `async with` opens it in the loop that runs, `with` opens it for plain code."""

    def __init__(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        hosts: Sequence[str] = (),
        progress: bool | None = None,
    ) -> None:
        """`store` is where the journal is: a directory (`.manyhands` if left out) or a postgresql URL.

        `config` is a manyhands.toml; left out, the nearest one. `hosts` are names of what functions use, beside
        `functions`: each has a width of its own, and `@manyhands.task(host=…)` chooses one. `progress=False` shows no
        bar.
        """
        self._store = store
        self._config = config
        self._hosts = hosts
        self._progress = progress
        self._async: AbstractAsyncContextManager[AsyncEngine] | None = None
        self._sync: SyncEngine | None = None

    async def __aenter__(self) -> AsyncEngine:
        self._check_closed()
        self._async = self._opening()
        return await self._async.__aenter__()

    async def __aexit__(self, *error: object) -> bool | None:
        assert self._async is not None
        opened, self._async = self._async, None
        return await opened.__aexit__(*error)  # type: ignore[arg-type]

    def __enter__(self) -> SyncEngine:
        self._check_closed()
        self._sync = self.open()
        return self._sync

    def __exit__(self, *_: object) -> None:
        assert self._sync is not None
        opened, self._sync = self._sync, None
        opened.close()

    def open(self) -> SyncEngine:
        """An engine that stays open from one cell of a notebook to the next, until its `close()`."""
        return SyncEngine(self._opening)

    def _check_closed(self) -> None:
        if self._async is not None or self._sync is not None:
            raise UsageError("this engine is open already", "`manyhands.Engine()` makes another one")

    @asynccontextmanager
    async def _opening(self) -> AsyncIterator[AsyncEngine]:
        config = load_config(
            config_file=Path(self._config) if self._config is not None else None, flags=_store_flags(self._store)
        )
        names = list(dict.fromkeys((CallSettings().host, *self._hosts)))
        for taken in (host.name for host in config.hosts if host.name in names):
            raise UsageError(f"`{taken}` is a host of the config", "choose another name for what functions use")
        calls = ProgramCalls()
        brought = [
            BroughtHost(Host(name, takes=("program",), nature=SERVICE), partial(ProgramExecutor, calls.work_for))
            for name in names
        ]
        try:
            async with open_session(config, brought=brought) as dispatcher:
                yield AsyncEngine(dispatcher, config, calls, self._progress)
        finally:
            calls.close()


def _store_flags(store: str | os.PathLike[str] | None) -> dict[str, str]:
    if store is None:
        return {}
    place = os.fspath(store)
    return {"store.url": place} if is_url(place) else {"store.dir": str(Path(place).absolute()), "store.url": ""}
