"""Tells what a dispatcher records to the people who asked for it, beside its work."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent
from manyhands.engine.telling.messengers import TEXT_CHARACTERS_MAX, WITHIN_S, NotTold, tell
from manyhands.engine.telling.tidings import Tiding, Tidings
from manyhands.sources.config.tell_config import TellConfig

_log = logging.getLogger(__name__)


class TellerMeans(NamedTuple):
    """What a teller takes from its surroundings."""

    now: Callable[[], float]
    redact: Callable[[str], str]
    environ: Mapping[str, str]
    page: Callable[[], str]  # the address of the page; "": none is served


class Teller:
    def __init__(self, book: Book, ways: Sequence[TellConfig], means: TellerMeans) -> None:
        self._ways, self._means = ways, means
        self._tidings = Tidings(book)
        self._telling: set[asyncio.Task[None]] = set()

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        for tiding in self._tidings.of(batch):
            safe = Tiding(tiding.about, self._safe(tiding.title), self._safe(tiding.text), tiding.run)
            for way in self._ways:
                if tiding.about in way.on:
                    task = asyncio.create_task(self._tell(way, safe))
                    self._telling.add(task)
                    task.add_done_callback(self._telling.discard)

    def _safe(self, text: str) -> str:
        """One line without secrets or control characters."""
        line = " ".join(self._means.redact(text).split())
        return "".join(character for character in line if character.isprintable())[:TEXT_CHARACTERS_MAX]

    async def _tell(self, way: TellConfig, tiding: Tiding) -> None:
        page = self._means.page()
        link = f"{page}/#/?run={quote(tiding.run)}" if page and tiding.run else page
        try:
            await tell(way, tiding, link, self._means.now(), self._means.environ)
        except NotTold as error:
            _log.warning("could not tell that %s: %s", tiding.title, error)
        except Exception as error:  # whoever cannot be told must not end a run
            _log.warning("could not tell that %s: %s", tiding.title, type(error).__name__)

    async def close(self) -> None:
        """The last word of a run is on its way when the dispatcher closes."""
        if self._telling:
            await asyncio.wait(self._telling, timeout=WITHIN_S)
