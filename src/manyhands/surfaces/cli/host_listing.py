"""`manyhands host` and `manyhands lane`: where attempts run, how wide, and why."""

from pathlib import Path

from manyhands.surfaces.cli.printing import OutputFormat, print_rows
from manyhands.surfaces.cli.settings import load
from manyhands.surfaces.verbs.host_verbs import host_rows, hosts_seen
from manyhands.surfaces.verbs.store_view import View


def list_hosts(output: OutputFormat, config_path: Path | None, hosts_path: Path | None, store: str | None) -> None:
    print_rows(host_rows(View(load(config_path, hosts_path, store))), output, "host")


def list_lanes(output: OutputFormat, config_path: Path | None, hosts_path: Path | None, store: str | None) -> None:
    rows: list[dict[str, object]] = []
    for state in hosts_seen(View(load(config_path, hosts_path, store))).values():
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
