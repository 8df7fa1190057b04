"""`manyhands host` and `manyhands lane`: list where attempts run, how wide, and why."""

from msgspec.structs import asdict

from manyhands.surfaces.cli.printing import OutputFormat, print_rows
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs import host_verbs
from manyhands.surfaces.verbs.host_verbs import HostRow, LaneRow
from manyhands.surfaces.verbs.store_view import View

_LANE_COLUMNS = ("lane", "width", "in_flight", "peak", "usual_s", "why")


def list_hosts(output: OutputFormat, settings: Settings) -> None:
    hosts = host_verbs.list_hosts(View(settings.load())).hosts
    row = _host_cells if output is OutputFormat.TABLE else asdict
    print_rows([row(host) for host in hosts], output, "host")


def _host_cells(host: HostRow) -> dict[str, object]:
    why = host.why if host.paused is None else f"paused: {host.paused}"
    if host.probe_trouble:
        why = f"probe: {host.probe_trouble} · {why}"
    return {
        "host": host.host,
        "takes": host.takes,
        "kinds": host.kinds,
        "width": host.width,
        "in_flight": host.in_flight,
        "peak": host.peak,
        "why": why if host.workers is None else f"{why} · model workers {host.workers}: {host.workers_why}",
    }


def list_lanes(output: OutputFormat, settings: Settings) -> None:
    lanes = host_verbs.list_lanes(View(settings.load())).lanes
    row = _lane_cells if output is OutputFormat.TABLE else asdict
    print_rows([row(lane) for lane in lanes], output, "lane", none="there are no lanes yet, because nothing has run")


def _lane_cells(lane: LaneRow) -> dict[str, object]:
    return {name: getattr(lane, name) for name in _LANE_COLUMNS}
