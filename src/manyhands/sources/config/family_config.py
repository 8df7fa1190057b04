"""A `[families.NAME]` table becomes a family, or every reason why it cannot."""

import math
import sys
from collections.abc import Collection
from typing import Literal

import msgspec
from msgspec import Struct

from manyhands.core.values.host import Family
from manyhands.readers.durations import DURATION_HINT, parse_duration
from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import fits

_STEPS = ("snapshot", "disrupt", "healthy", "revert")
_WAITER = "manyhands.hosts.executors.until_passes"


class FamilyConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Tasks that need one disruptive step together. All steps are commands; {family} and {round} are filled in."""

    host: str
    snapshot: tuple[str, ...]
    disrupt: tuple[str, ...]
    healthy: tuple[str, ...]  # tried until it passes
    healthy_within: float = 600.0  # seconds; longer is a failure
    revert: tuple[str, ...]
    on_failure: Literal["revert", "bisect"] = "revert"
    order: int | None = None  # of those on one host, smaller goes first; left out: as they stand in the file

    def core_family(self, name: str, place: int) -> Family:
        waiting = (sys.executable, "-m", _WAITER, f"{self.healthy_within:g}", *self.healthy)
        rank = place if self.order is None else self.order
        bisect = self.on_failure == "bisect"
        return Family(name, self.host, self.snapshot, self.disrupt, waiting, self.revert, bisect, rank)


def family_from(name: str, table: object, hosts: Collection[str], sheet: Sheet) -> FamilyConfig | None:
    here: FieldPath = ("families", name)
    good = check_name(name, here, sheet)
    if isinstance(table, dict) and isinstance(table.get("healthy_within"), str):
        seconds = parse_duration(table["healthy_within"])
        if seconds is None:
            sheet.wrong((*here, "healthy_within"), table["healthy_within"], "must be a length of time", DURATION_HINT)
            return None
        table = table | {"healthy_within": seconds}
    if not fits(table, FamilyConfig, here, sheet):
        return None
    family = msgspec.convert(table, FamilyConfig)
    for step in _STEPS:
        argv = getattr(family, step)
        if not argv or not argv[0].strip():
            sheet.wrong((*here, step), list(argv), "must name a program", f'for example `{step} = ["./{step}"]`')
            good = False
    if not 0 < family.healthy_within < math.inf:
        sheet.wrong((*here, "healthy_within"), family.healthy_within, "must be more than 0")
        good = False
    if family.host not in hosts:
        hint = did_you_mean(family.host, hosts) or f"the hosts are {', '.join(hosts)}"
        sheet.wrong((*here, "host"), family.host, "must be a host of the config", hint)
        good = False
    return family if good else None
