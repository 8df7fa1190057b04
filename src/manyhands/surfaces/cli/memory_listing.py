"""`manyhands memory`: shows what earlier runs taught about hosts and kinds, and forgets it."""

import time

from manyhands.core.book import Book
from manyhands.core.events import MemoryForgotten
from manyhands.engine.store.store_opening import open_requests
from manyhands.errors import UsageError
from manyhands.surfaces.cli.printing import OutputFormat, duration, print_rows, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.store_view import open_book


def list_memory(output: OutputFormat, settings: Settings) -> None:
    book = open_book(settings.load().store_at)
    rows = [row for name in _names(book) for row in _rows(book, name)]
    print_rows(rows, output, "lane")
    if output is OutputFormat.TABLE and not rows:
        say("nothing is learned yet; only hosts without a pinned width learn")


def _names(book: Book) -> list[str]:
    for host in book.hosts.values():
        book.memory.take_in(host.host, host.limit)
    return sorted({*book.memory.hosts, *book.memory.difficulties})


def _rows(book: Book, name: str) -> list[dict[str, object]]:
    remembered = book.memory.hosts.get(name)
    difficulty = book.memory.difficulties.get(name)
    rows: list[dict[str, object]] = []
    for kind in sorted({*(difficulty.kinds if difficulty else ()), *(remembered.kinds if remembered else ())}):
        record = difficulty.kinds.get(kind) if difficulty else None
        costs = remembered.kinds.get(kind) if remembered else None
        rows.append(
            {
                "lane": f"{kind}@{name}",
                "host_width": round(remembered.width, 1) if remembered else None,
                "rate_per_s": remembered.rate_per_s if remembered else None,
                "attempts": record.attempts if record else 0,
                "success": round(record.success, 3) if record else None,
                "usual_s": round(record.took_s, 3) if record else None,
                "tokens": round(record.tokens) if record else None,
                "memory_mb": round(costs.memory_bytes / 1e6, 1) if costs and costs.memory_bytes else None,
                "overloads_at": record.overload_widths[-5:] if record else [],
                "last": f"{duration(time.time() - record.last_at)} ago" if record and record.last_at else "",
            }
        )
    return rows


def forget(host: str | None, kind: str | None, everything: bool, settings: Settings) -> None:
    if not (host or kind or everything):
        raise UsageError("nothing to forget is named", "add `--host NAME`, `--kind KIND`, both, or `--all`")
    config = settings.load()
    book = open_book(config.store_at)
    if host and host not in _names(book):
        known = ", ".join(_names(book)) or "no host yet"
        raise UsageError(f"nothing is remembered about a host `{host}`", f"something is remembered about {known}")
    asking = open_requests(config.store_at, config.store.durability)
    try:
        asking.ask(MemoryForgotten(time.time(), host or "", kind or ""))
    finally:
        asking.close()
    say("forgotten")
