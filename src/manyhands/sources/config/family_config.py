"""A `[families.NAME]` table becomes a family, or every reason why it cannot."""

import sys
from collections.abc import Collection
from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from manyhands.core.values.host import Family
from manyhands.durations import Duration
from manyhands.field_rules import CommandLine, rule, says
from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import REFUSED, read_as

_WAITER = "manyhands.hosts.executors.until_passes"


_Step = Annotated[CommandLine, rule("must name a program", 'for example `["./step", "now"]`', minItems=1)]


class FamilyConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Tasks that need one disruptive step together. All steps are commands; {family} and {round} are filled in."""

    host: Annotated[str, says("The host that the steps disrupt.")]
    snapshot: Annotated[_Step, says("Saves the state of the host, to go back to.")]
    disrupt: Annotated[_Step, says("The disruptive step.")]
    healthy: Annotated[_Step, says("Passes once the host is well again. It is tried until it passes.")]
    healthy_within: Annotated[Duration, says("How long `healthy` may take. Longer is a failure.")] = 600.0
    revert: Annotated[_Step, says("Goes back to the snapshot of this round.")]
    on_failure: Annotated[
        Literal["revert", "bisect"],
        says("After a failure: go back and fail the family, or find the task that did the harm."),
    ] = "revert"
    order: Annotated[
        int | None,
        says("Of the families on one host, the smaller goes first. Left out: the order of the file."),
    ] = None

    def core_family(self, name: str, place: int) -> Family:
        waiting = (sys.executable, "-m", _WAITER, f"{self.healthy_within:g}", *self.healthy)
        rank = place if self.order is None else self.order
        bisect = self.on_failure == "bisect"
        return Family(name, self.host, self.snapshot, self.disrupt, waiting, self.revert, bisect, rank)


def family_from(name: str, table: object, hosts: Collection[str], sheet: Sheet) -> FamilyConfig | None:
    here: FieldPath = ("families", name)
    good = check_name(name, here, sheet)
    plain = read_as(FamilyConfig, table, here, sheet)
    if plain is REFUSED:
        return None
    family = msgspec.convert(plain, FamilyConfig)
    if family.host not in hosts:
        hint = did_you_mean(family.host, hosts) or f"the hosts are {', '.join(hosts)}"
        sheet.wrong((*here, "host"), family.host, "must be a host of the config", hint)
        good = False
    return family if good else None
