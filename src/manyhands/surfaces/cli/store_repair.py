"""`manyhands store check` and `manyhands store repair`: what of a journal can be read, said or saved."""

from pathlib import Path

from manyhands.engine.store.repairing import check, repair
from manyhands.engine.store.store_opening import printable
from manyhands.errors import StoreBroken
from manyhands.quantities import how_many_wait, quantity
from manyhands.surfaces.cli.printing import OutputFormat, print_json, put, say
from manyhands.surfaces.cli.settings import Settings


def check_store(output: OutputFormat, settings: Settings) -> None:
    place = settings.load().store_at
    found = check(place)
    if output is OutputFormat.JSON:
        print_json({"store": printable(place), "sound": not found.problems, **found._asdict()})
    elif output is OutputFormat.IDS:
        put(f"{printable(place)}\n")
    else:
        say(
            f"{printable(place)}: {_events(found.events, found.recorded)} can be read,"
            f" {how_many_wait(found.requests, 'request')}"
        )
    if found.problems:
        raise StoreBroken(
            "; ".join(found.problems), "`manyhands store repair --to DIR` saves what can be read to a new store"
        )
    if output is OutputFormat.TABLE:
        say("the journal is sound")


def repair_store(target: Path, output: OutputFormat, settings: Settings) -> None:
    place = settings.load().store_at
    target = target.absolute()
    saved = repair(place, target)
    if output is OutputFormat.JSON:
        print_json({"from": printable(place), "to": str(target), **saved._asdict()})
        return
    if output is OutputFormat.IDS:
        put(f"{target}\n")
        return
    say(f"saved {_events(saved.events, saved.recorded)} and {quantity(saved.requests, 'request')} to {target}")
    if saved.recorded is None:
        say("nobody can tell whether that is all: the mark beside the journal is missing or damaged")
    elif saved.events < saved.recorded:
        say(f"events {saved.events + 1:,} to {saved.recorded:,} are lost; tasks whose ending is among them run again")
    say(f"continue with `--store {target}`, or put that directory in the place of the old one")


def _events(there: int, recorded: int | None) -> str:
    return quantity(there, "event") if recorded is None or recorded <= there else f"{there:,} of {recorded:,} events"
