"""The entry point of the command line: nouns, then verbs; a noun alone lists.

A noun's declarations are in `NOUN_commands.py` and are loaded when it is typed. What a command does is loaded when it
is called. So help and wrong usage cost little.
"""

import gc
import io
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, NamedTuple, NoReturn

from manyhands.errors import ManyhandsError, UsageError
from manyhands.surfaces.cli.options import EXIT_CODES
from manyhands.surfaces.cli.parsing.declarations import CliCommand, FieldGroup, Noun, Option
from manyhands.surfaces.cli.parsing.word_parsing import HELP, HelpWanted, first_name, near, values_of
from manyhands.surfaces.cli.printing import put, say
from manyhands.surfaces.cli.settings import Settings

PROGRAM = "manyhands"
ALLOCATIONS_BEFORE_COLLECTING = 10_000
#: noun → what it is for, in one sentence
NOUNS = {
    "init": "Write a first manyhands.toml and a first plan for this directory.",
    "doctor": "Say what is wrong here, each with its fix.",
    "do": "Carry out a sentence: agents work on it, and their commits land.",
    "demo": "Show what manyhands does, in half a minute. There is nothing to configure.",
    "run": "Run a plan to its end, or continue where it was stopped.",
    "serve": "Watch backlogs and run their tasks until stopped.",
    "add": "Add tasks to a run, whether a dispatcher is running or not.",
    "pull": "Take tasks as an agent that comes by itself, and hand them in.",
    "task": "List the tasks of a run, or look at one and act on it.",
    "runs": "List the runs of this store, or show one.",
    "inbox": "List what waits for a person, each with the command that answers it.",
    "budget": "List the budgets and what was spent of them, or raise one.",
    "ask": "Ask a person something, from inside an attempt.",
    "handoff": "Print what the next person or agent must know of a run, in at most 2,000 words.",
    "top": "Watch what runs, and steer it with keys, in this terminal.",
    "page": "Open the page of a run, or save it as one file.",
    "review": "Tell what happened in a run: goal, outcome, next steps, decisions, open questions.",
    "host": "List the hosts, pause one, or set its width.",
    "lane": "List the lanes: the attempts of one kind on one host.",
    "plan": "Check plan files, or print their schema.",
    "split": "Split a code base into subplans, and write a plan for them.",
    "backlog": "Look into Beads backlogs.",
    "eval": "Compare agents or prompts: arms × cases × replications.",
    "route": "List where results are delivered, and send failed deliveries again.",
    "memory": "Show or forget what earlier runs taught about hosts and kinds.",
    "sim": "Predict what would happen to a backlog on given hosts.",
    "tune": "Measure the width a host can bear, with real tasks.",
    "worker": "Serve several models from one process, over HTTP.",
    "probe": "Tell dispatchers elsewhere how full this machine's devices are.",
    "mcp": "Offer the same verbs to agents, over the Model Context Protocol.",
    "store": "Copy a journal between a directory and PostgreSQL.",
    "token": "Make, list, rotate or revoke tokens for the HTTP API.",
    "audit": "List who asked for what, when, and from where.",
    "completion": "Print the script that completes commands in bash, zsh or fish.",
    "help": "Explain a command or a topic.",
    "config": "Show every setting in force and where it comes from, or the schema of manyhands.toml.",
}
#: Nouns are singular. `run` runs a plan, so `runs` lists them; of the others the plural is understood.
_PLURALS = {f"{name}s": name for name in ("task", "host", "lane", "plan", "backlog", "route", "eval", "store")}
ABOUT = "Runs a backlog of AI-agent tasks as wide as your machines can bear, and no wider."


class _RootOptions(NamedTuple):
    version: Annotated[
        bool, Option("--version", help="Print the version and the extras that are installed, and exit.")
    ] = False
    help: Annotated[bool, Option(HELP, help="Show this text and exit.")] = False


_SETTINGS = FieldGroup("settings", Settings).fields
_ROOT = FieldGroup("root", _RootOptions).fields
ROOT_FIELDS = (*_SETTINGS, *_ROOT)


def noun_of(name: str) -> Noun:
    noun = import_module(f"manyhands.surfaces.cli.{name}_commands").noun
    assert isinstance(noun, Noun)
    return noun


def answer(words: Sequence[str]) -> int:
    """Do what was typed. Returns the exit code."""
    try:
        at = first_name(words, ROOT_FIELDS)
    except UsageError as error:
        raise _pointing_to_help(error, PROGRAM) from None
    before, rest = [*words[:at]], words[at:]
    if "--version" in before:
        from manyhands.surfaces.cli.installed import version_text

        put(version_text())
        return 0
    if not rest or rest[0] == HELP:
        return _show(_root_help(), is_wanted=bool(rest))
    name = _PLURALS.get(rest[0], rest[0])
    if name not in NOUNS:
        raise _pointing_to_help(UsageError(f"there is no command `{name}`{near(name, NOUNS)}"), PROGRAM)
    return _answer_noun(f"{PROGRAM} {name}", noun_of(name), [*before, *rest[1:]])


def _answer_noun(path: str, noun: Noun, words: list[str]) -> int:
    """What stands before a verb is read as if it stood behind it."""
    if not noun.verbs and noun.bare is not None:
        return _call(path, noun.bare, words)
    leading = noun.bare or noun.verbs.get(noun.assumed)
    try:
        at = first_name(words, leading.options if leading else _SETTINGS)
    except UsageError as error:
        raise _pointing_to_help(error, path) from None
    before, rest = words[:at], words[at:]
    if rest and rest[0] in noun.verbs:
        return _call(f"{path} {rest[0]}", noun.verbs[rest[0]], [*before, *rest[1:]])
    if rest[:1] == [HELP] or (not rest and noun.bare is None):
        return _show(_noun_help(path, noun), is_wanted=bool(rest))
    if noun.assumed:
        return _call(f"{path} {noun.assumed}", noun.verbs[noun.assumed], words)
    if rest or noun.bare is None:
        raise _pointing_to_help(UsageError(f"there is no command `{rest[0]}`{near(rest[0], noun.verbs)}"), path)
    return _call(path, noun.bare, words)


def _call(path: str, command: CliCommand, words: list[str]) -> int:
    try:
        values = values_of(command, words)
    except HelpWanted:
        from manyhands.surfaces.cli.parsing.help_text import columns, command_help

        return _show(command_help(path, command, columns()))
    except UsageError as error:
        raise _pointing_to_help(error, path) from None
    return command.call(values) or 0


def _pointing_to_help(error: UsageError, path: str) -> UsageError:
    return UsageError(error.message, f"`{path} --help` says what it takes")


def _root_help() -> str:
    from manyhands.surfaces.cli.parsing.help_text import columns, root_help

    return root_help(PROGRAM, ABOUT, ROOT_FIELDS, NOUNS, EXIT_CODES, columns())


def _noun_help(path: str, noun: Noun) -> str:
    from manyhands.surfaces.cli.parsing.help_text import columns, noun_help

    return noun_help(path, noun, columns())


def _show(help: str, is_wanted: bool = True) -> int:
    """Help that was asked for is data. Help instead of an answer is talk, and the usage was wrong."""
    if is_wanted:
        put(help)
        return 0
    say(help.removesuffix("\n"))
    return UsageError.exit_code


def main(words: Sequence[str] | None = None) -> NoReturn:
    # Loading modules makes many objects and no garbage. With Python's 700, looking for it takes a tenth of `task`.
    gc.set_threshold(ALLOCATIONS_BEFORE_COLLECTING)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without `·` gets `?`, not a traceback
            stream.reconfigure(errors="replace")
    try:
        code = answer(sys.argv[1:] if words is None else words)
    except ManyhandsError as error:
        say(f"error: {error.message}")
        if error.hint:
            say(f"hint: {error.hint}")
        code = error.exit_code
    except KeyboardInterrupt:
        code = 128 + 2  # as shells say that SIGINT ended it
    sys.exit(code)
