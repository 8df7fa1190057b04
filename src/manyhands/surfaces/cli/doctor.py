"""`manyhands doctor`: prints each thing that was looked at, and the fix of each that is wrong."""

import socket
from contextlib import closing

from msgspec.structs import asdict

from manyhands.apps.setup.checkup import findings, refused
from manyhands.apps.setup.finding import Finding
from manyhands.errors import ManyhandsError
from manyhands.surfaces.cli.printing import OutputFormat, print_rows, put_lines, say
from manyhands.surfaces.cli.settings import Settings

SERVE_PORT = 8642


def examine(output: OutputFormat, settings: Settings) -> int:
    try:
        found = [*findings(settings.load()), _port()]
    except ManyhandsError as error:
        found = [refused(error)]
    wrong = [each for each in found if not each.good]
    if output is OutputFormat.TABLE:
        for each in found:
            put_lines([f"{'ok   ' if each.good else 'WRONG'} {each.what}: {each.says}"])
            if each.fix and not each.good:
                put_lines([f"      fix: {each.fix}"])
    else:
        print_rows([asdict(each) for each in (found if output is OutputFormat.JSON else wrong)], output, "what")
    say(f"{len(wrong)} of {len(found)} wrong" if wrong else f"all {len(found)} are good")
    return 1 if wrong else 0


def _port() -> Finding:
    """A port in use is not wrong: a dispatcher of ours may have it, and another port does as well."""
    with closing(socket.socket()) as asking:
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asking.bind(("127.0.0.1", SERVE_PORT))
        except OSError:
            return Finding("port", True, f"{SERVE_PORT} is in use; `manyhands serve --port N` takes another")
    return Finding("port", True, f"{SERVE_PORT} is free for `manyhands serve`")
