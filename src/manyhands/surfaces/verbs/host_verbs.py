"""Where attempts run, how wide, and why."""

from manyhands.core.state import HostState
from manyhands.core.values.host import Width
from manyhands.surfaces.verbs.store_view import View


def host_rows(view: View) -> list[dict[str, object]]:
    """Those of the config, as the journal knows them."""
    seen = hosts_seen(view)
    rows: list[dict[str, object]] = []
    for host in view.config.hosts:
        state = seen.get(host.name)
        rows.append(
            {
                "host": host.name,
                "type": type(host).__struct_config__.tag,
                "kinds": host.kinds,
                "width": state.width if state else _configured(host.width),
                "in_flight": len(state.running) if state else 0,
                "peak": state.peak if state else 0,
                "why": _why(state),
            }
        )
    return rows


def _configured(width: Width) -> object:
    return width.start or width.max or ""


def _why(state: HostState | None) -> str:
    if state is None:
        return "not used yet"
    why = f"paused: {state.paused}" if state.paused is not None else state.reason
    return why if state.workers is None else f"{why} · model workers {state.workers}: {state.workers_why}"


def hosts_seen(view: View) -> dict[str, HostState]:
    """The hosts as the journal knows them; none if there is no journal yet."""
    book = view.book_if_any
    return book.hosts if book is not None else {}
