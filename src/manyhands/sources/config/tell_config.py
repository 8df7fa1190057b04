"""Who is told what: the `[[tell]]` tables of the config."""

from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from manyhands.field_rules import CommandLine, SecretVariable, WebAddress, rule, says
from manyhands.readers.problems import FieldPath, Sheet, dotted
from manyhands.readers.shape import REFUSED, read_as

#: What is told: a run has ended, its first task has failed, a person is needed, an account has closed or opened.
TellCause = Literal["end", "failure", "person", "account"]


class TellConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One way to tell you what happens while nobody looks."""

    on: Annotated[
        tuple[TellCause, ...],
        rule("must name what is told", minItems=1),
        says(
            "What is told: the `end` of a run, its first `failure`, that a `person` is needed (also for a budget), and "
            "that an `account` has closed or opened."
        ),
    ] = ("end", "failure", "person", "account")
    desktop: Annotated[bool, says("`true`: a message on this desktop, by `notify-send`.")] = False
    command: Annotated[
        CommandLine,
        says("A command that is run. It finds what is told in `MANYHANDS_TELL_TITLE`, `_TEXT`, `_CAUSE` and `_LINK`."),
    ] = ()
    webhook: Annotated[WebAddress, says("An address that gets a POST.")] = ""
    webhook_env: Annotated[
        SecretVariable,
        says("The name of the environment variable that has the address, if the address is a secret."),
    ] = ""
    form: Annotated[
        Literal["json", "slack", "discord", "ntfy"],
        says("What the address expects. `json`: an object with `cause`, `title`, `text`, `link`, `run` and `at`."),
    ] = "json"


def tell_from(row: object, here: FieldPath, sheet: Sheet) -> TellConfig | None:
    plain = read_as(TellConfig, row, here, sheet)
    if plain is REFUSED:
        return None
    told = msgspec.convert(plain, TellConfig)
    ways = [bool(told.desktop), bool(told.command), bool(told.webhook), bool(told.webhook_env)]
    if sum(ways) != 1:
        hint = 'write `desktop = true`, `command = […]`, `webhook = "…"` or `webhook_env = "NAME"`'
        sheet.tell(here, f"`{dotted(here)}` must name one way to tell you", hint)
        return None
    return told
