"""`manyhands token`: makes, replaces, lists and deletes the tokens of a store."""

import time
from pathlib import Path

from manyhands.surfaces.api.named_tokens import (
    OWNER,
    make_token,
    named_tokens,
    revoke_token,
    rotate_token,
)
from manyhands.surfaces.api.token import read_token
from manyhands.surfaces.api.token_scope import TokenScope
from manyhands.surfaces.cli.printing import OutputFormat, print_rows, put_lines, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.audit_trail import AuditLine, note_command, user_here


def list_tokens(output: OutputFormat, settings: Settings) -> None:
    directory = settings.load().store_directory
    rows = [{"name": one.name, "scope": one.scope, "made_at": one.made_at} for one in named_tokens(directory)]
    if read_token(directory) is not None:
        rows.insert(0, {"name": OWNER, "scope": TokenScope.COMMAND, "made_at": None})
    print_rows(rows, output, "name", none="no token has been made yet; `manyhands serve` makes the owner's")


def add_token(name: str, scope: TokenScope, settings: Settings) -> None:
    directory = settings.load().store_directory
    token = make_token(directory, name, scope, time.time())
    _show(token)
    _note(directory, f"token add {name} --scope {scope}")


def replace_token(name: str, settings: Settings) -> None:
    directory = settings.load().store_directory
    token = rotate_token(directory, name, time.time())
    _show(token)
    _note(directory, f"token rotate {name}")


def take_token_away(name: str, settings: Settings) -> None:
    directory = settings.load().store_directory
    revoke_token(directory, name)
    _note(directory, f"token revoke {name}")
    say(f"token {name} no longer works")


def _show(token: str) -> None:
    put_lines([token])
    say("this is the only time that it is shown; send it as `Authorization: Bearer …`")


def _note(directory: Path, what: str) -> None:
    note_command(directory, AuditLine(time.time(), user_here(), "command line", what))
