"""What an agent that asks is allowed: never more than `confine` of its host, and of that what a person allows."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyhands.core.values.question import Question, QuestionKind
from manyhands.hosts.agents.acp_reading import command_in, paths_in
from manyhands.hosts.agents.refusal_texts import table, text_of
from manyhands.hosts.executors.asking import as_asked
from manyhands.hosts.executors.output_text import one_line
from manyhands.sources.config.agent_config import Permissions

#: Tools that change nothing.
_READING = frozenset({"read", "search", "think", "fetch"})
REJECT = "reject"
#: What a person may answer → the kind of option that it means. The agent's own names for them could say anything.
_KIND_OF = {
    "allow": "allow_once",
    "allow always": "allow_always",
    REJECT: "reject_once",
    "reject always": "reject_always",
}
_SHOWN_CHARACTERS = 1_500
#: What a tool call is, apart from its id. The same call is the same question, and another one never is.
_OF_CALL = ("kind", "title", "rawInput", "content", "locations")


class AcpPermissions:
    def __init__(self, place: Path, writable: Sequence[Path] | None, policy: Permissions) -> None:
        """`writable` is where it may write, None: everywhere. Paths that are not absolute are below `place`."""
        self._place = place
        self._writable = None if writable is None else [_real(path) for path in writable]
        self._policy = policy

    def answer(self, asked: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The answer to the request without a person, and what was not allowed, or "".

        A command names no files: the kernel keeps it where it may write, or nothing does.
        """
        call = table(asked.get("toolCall"))
        outside = [path for path in paths_in(call) if not self._is_allowed(path)]
        if call.get("kind") in _READING or not outside:
            option = _option(asked, "allow_once")
            return ({"outcome": _selected(option)}, "") if option else (_CANCELLED, _named(call, "it offers no once"))
        return self.chosen(asked, REJECT), _named(call, ", ".join(outside))

    def question(self, asked: dict[str, Any]) -> Question | None:
        """What a person is asked about the request. None: nobody is."""
        call = table(asked.get("toolCall"))
        if self._policy == "allow" or call.get("kind") in _READING:
            return None
        choices = tuple(words for words, kind in _KIND_OF.items() if _option(asked, kind))
        return Question(QuestionKind.QUESTION, _in_words(call), choices)

    def chosen(self, asked: dict[str, Any], words: str) -> dict[str, Any]:
        """The answer that a person has chosen. Other words reject it: the agent cannot be told them."""
        option = _option(asked, _KIND_OF.get(words.strip().lower(), "")) or _option(asked, _KIND_OF[REJECT])
        return {"outcome": _selected(option)} if option else _CANCELLED

    def _is_allowed(self, path: str) -> bool:
        if self._writable is None:
            return True
        file = _real(self._place / path)
        return any(file.is_relative_to(place) for place in self._writable)


_CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}


def _in_words(call: dict[str, Any]) -> str:
    """What it wants to do, shortened for people, with a mark that only the same call has."""
    whole = json.dumps([call.get(field) for field in _OF_CALL], sort_keys=True)
    what = command_in(call) or ", ".join(paths_in(call)) or _titled(call)
    shown = as_asked(what)
    if len(shown) > _SHOWN_CHARACTERS:
        shown = f"{shown[:_SHOWN_CHARACTERS]} … (cut; the attempt's agent.jsonl has all of it)"
    mark = hashlib.sha256(whole.encode()).hexdigest()[:16]
    return as_asked(f"May it {one_line(text_of(call.get('kind'))) or 'use a tool'}: {shown}? (request {mark})")


def _titled(call: dict[str, Any]) -> str:
    arguments = call.get("rawInput")
    said = [text_of(call.get("title")), json.dumps(arguments) if arguments else ""]
    return " ".join(filter(None, said)) or "it does not say what"


def _selected(option: str) -> dict[str, Any]:
    return {"outcome": "selected", "optionId": option}


def _option(asked: dict[str, Any], kind: str) -> str:
    options = asked.get("options")
    for option in options if isinstance(options, list) else ():
        if kind and table(option).get("kind") == kind:
            return text_of(option.get("optionId"))
    return ""


def _named(call: dict[str, Any], what: str) -> str:
    return f"{text_of(call.get('kind')) or 'tool'} {what}"


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
