"""Keeps secrets out of what is written for people: known values, and whatever has the shape of a key."""

import os
import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from manyhands.core.values.ending import Ending
from manyhands.core.values.question import Question
from manyhands.engine.store.contract.env_vault import EnvVault
from manyhands.sources.config.config_types import Config, OpenaiHost

REDACTED = "[redacted]"
_NAMED_LIKE_A_SECRET = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
#: Settings that are merely named so (TOKENIZERS_PARALLELISM=false); as secrets they would blot out half of every line.
_PLAIN = frozenset({"true", "false", "none", "null", "auto", "default", "disabled", "enabled"})
#: Shorter ones would be found in everything.
VALUE_CHARACTERS_MIN = 4
#: From here on a value is a secret wherever it stands, below only as a word of its own.
ANYWHERE_CHARACTERS_MIN = 8
LINE_CHARACTERS_MIN = 16

_SHAPES = re.compile(
    r"\bsk-[\w-]{12,}"  # OpenAI, Anthropic and those after them
    r"|\b(?:gh[pousr]|hf|glpat|xox[abprs]|npm|pypi)[_-][\w-]{16,}"
    r"|\bgithub_pat_\w{20,}"
    r"|\bA(?:KI|SI)A[0-9A-Z]{16}\b"
    r"|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web tokens
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/@:]+:[^\s/@]+(?=@)"  # user:password@ in an address
    r"|(?i:(?<=bearer )\S{8,}|(?<=basic )[\w+/=]{12,})"
    r"|(?i:(?:(?<=key=)|(?<=token=)|(?<=secret=)|(?<=password=))[^\s&;,\"']{4,})"
)

#: What every one of these shapes has in it: looking for them is many times faster than looking for the shapes.
_SIGNS = (
    *(f"{name}{dash}" for name in ("ghp", "gho", "ghu", "ghs", "ghr", "hf", "glpat", "npm", "pypi") for dash in "_-"),
    *("xox", "github_pat_", "akia", "asia", "aiza", "eyj", "-----begin", "://", "bearer ", "basic "),
    *("key=", "token=", "secret=", "password="),
)
_SK = re.compile(r"sk-[\w-]{12}")


class Secrets:
    def __init__(self, environ: Mapping[str, str], named: Iterable[str] = (), vault: EnvVault | None = None) -> None:
        """Of the environment: variables that are called like secrets, and those `named` whatever they are called.

        Where an `env` of a task has fingerprints, `vault` has the values.
        """
        self._vault = vault
        self._values: set[str] = set()
        self._found: re.Pattern[str] | None = None
        self.learn(environ)
        for name in named:
            self._keep(environ.get(name, ""))

    def learn(self, environ: Mapping[str, str]) -> None:
        secret = {name: value for name, value in environ.items() if _NAMED_LIKE_A_SECRET.search(name)}
        for value in (secret if self._vault is None else self._vault.known(secret)).values():
            self._keep(value)

    @property
    def known(self) -> tuple[str, ...]:
        """For another process that is to leave them out too."""
        return tuple(self._values)

    def know(self, values: Iterable[str]) -> None:
        self._values.update(values)
        self._found = None

    def left_out_of(self, ending: Ending) -> Ending:
        """The ending without secrets. A result is data for others, so only known values are taken out of it."""
        if not (ending.detail or ending.tail or ending.result or ending.notes or ending.asks):
            return ending
        result = self._without_known(ending.result)
        detail, tail = (text and self.redact(text) for text in (ending.detail, ending.tail))
        notes = tuple(replace(note, text=self.redact(note.text)) for note in ending.notes)
        asks = self.left_out_of_question(ending.asks) if ending.asks is not None else None
        if (detail, tail, result, notes, asks) == (
            ending.detail,
            ending.tail,
            ending.result,
            ending.notes,
            ending.asks,
        ):
            return ending
        return replace(ending, detail=detail, tail=tail, result=result, notes=notes, asks=asks)

    def left_out_of_question(self, question: Question) -> Question:
        choices = tuple(self.redact(choice) for choice in question.choices)
        return replace(question, text=self.redact(question.text), choices=choices)

    def _without_known(self, text: str) -> str:
        if not any(value in text for value in self._values):
            return text
        if self._found is None:
            self._found = _any_of(self._values)
        return self._found.sub(REDACTED, text)

    def redact(self, text: str) -> str:
        text = self._without_known(text)
        return _SHAPES.sub(REDACTED, text) if _may_have_a_shape(text) else text

    def _keep(self, value: str) -> None:
        value = value.strip()
        if len(value) >= VALUE_CHARACTERS_MIN and value.lower() not in _PLAIN and value not in self._values:
            self._values.add(value)
            # Of a key of several lines any one may turn up alone.
            self._values.update(line for line in value.split("\n") if len(line) >= LINE_CHARACTERS_MIN)
            self._found = None


def secrets_of(config: Config) -> Secrets:
    """Of the environment, and of what the hosts give their attempts."""
    keys = [host.api_key_env for host in config.hosts if isinstance(host, OpenaiHost) and host.api_key_env]
    keys += [row.github.token_env for row in config.backlogs if row.github is not None]
    secrets = Secrets(os.environ, keys, EnvVault(config.store_directory))
    for host in config.hosts:
        secrets.learn(getattr(host, "env", {}))
    return secrets


def _may_have_a_shape(text: str) -> bool:
    lower = text.lower()
    return any(sign in lower for sign in _SIGNS) or _SK.search(text) is not None


def _any_of(values: Iterable[str]) -> re.Pattern[str]:
    # The longest first: one may begin with another.
    alternatives = [
        re.escape(value) if len(value) >= ANYWHERE_CHARACTERS_MIN else rf"(?<!\w){re.escape(value)}(?!\w)"
        for value in sorted(values, key=len, reverse=True)
    ]
    return re.compile("|".join(alternatives))
