"""`manyhands host` and `manyhands lane`: list where attempts run, how wide, and why."""

from manyhands.surfaces.cli.printing import OutputFormat, print_rows
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.host_verbs import host_rows, hosts_seen
from manyhands.surfaces.verbs.store_view import View


def list_hosts(output: OutputFormat, settings: Settings) -> None:
    print_rows(host_rows(View(settings.load())), output, "host")


def list_lanes(output: OutputFormat, settings: Settings) -> None:
    rows: list[dict[str, object]] = []
    for state in hosts_seen(View(settings.load())).values():
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
    print_rows(rows, output, "lane", none="there are no lanes yet, because nothing has run")
