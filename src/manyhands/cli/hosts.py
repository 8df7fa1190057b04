"""`manyhands host` and `manyhands lane`: where attempts run, how wide, and why."""

from pathlib import Path

from manyhands.cli.output import Output, print_rows
from manyhands.cli.settings import load
from manyhands.cli.views import open_book
from manyhands.config.model import Config
from manyhands.core.model import Width
from manyhands.core.state import HostState
from manyhands.store.opening import exists


def list_hosts(output: Output, config_path: Path | None, hosts_path: Path | None, store: str | None) -> None:
    config = load(config_path, hosts_path, store)
    seen = _seen(config)
    rows: list[dict[str, object]] = []
    for host in config.hosts:
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
    print_rows(rows, output, "host")


def _configured(width: Width) -> object:
    return width.start or width.max or ""


def _why(state: HostState | None) -> str:
    if state is None:
        return "not used yet"
    why = f"paused: {state.paused}" if state.paused is not None else state.reason
    return why if state.workers is None else f"{why} · model workers {state.workers}: {state.workers_why}"


def list_lanes(output: Output, config_path: Path | None, hosts_path: Path | None, store: str | None) -> None:
    config = load(config_path, hosts_path, store)
    rows: list[dict[str, object]] = []
    for state in _seen(config).values():
        for kind, lane in state.lanes.items():
            rows.append(
                {
                    "lane": f"{kind}@{state.name}",
                    "width": lane.width if lane.width is not None else state.width,
                    "in_flight": lane.in_flight,
                    "peak": lane.peak,
                    "usual_s": lane.usual_s,
                    "why": lane.why if lane.width is not None else state.reason,
                }
            )
    print_rows(rows, output, "lane", none="no lanes yet: nothing has run here")


def _seen(config: Config) -> dict[str, HostState]:
    """The hosts as the journal knows them; none if there is no journal yet."""
    return open_book(config.store_at).hosts if exists(config.store_at) else {}
