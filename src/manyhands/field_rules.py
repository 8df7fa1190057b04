"""What the field of a file may hold, declared once: on the struct that has the field.

A declaration is an `Annotated` type. Its rules are JSON Schema keywords, each with the words that refuse a value.
The readers check files by these rules, the schemas print them, and the tables in the docs list them. Decoding does not
look at them, because a journal may hold values that an older version accepted.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta

#: A hint may depend on the value that is refused.
Hint = str | Callable[[Any], str]


def says(description: str, hint: Hint = "") -> Meta:
    """What a field means. The hint goes with every rule of the field that has no hint of its own."""
    return Meta(description=description, extra={"hint": hint})


def rule(
    words: str = "",
    hint: Hint = "",
    *,
    secret: bool = False,
    forbidden: dict[str, Any] | None = None,
    **keywords: Any,
) -> Meta:
    """Keywords that a value must satisfy, or must not. Left out, the words follow from the keyword.

    A secret value is not repeated when it is refused. With `type` the rule replaces the type in the struct, for fields
    that files write in another form than the struct holds.
    """
    if forbidden is not None:
        keywords["not"] = forbidden
    return Meta(extra_json_schema=keywords, extra={"words": words, "rule_hint": hint, "secret": secret})


def read_by(plain: Callable[[Any], Any]) -> Meta:
    """Turns a value that files write in a friendlier form into the form the struct holds."""
    return Meta(extra={"plain": plain})


def short_for(kind: Any, plain: Callable[[Any], Any]) -> Meta:
    """A table may also be written as a single value of this kind, which `plain` turns into the table."""
    return Meta(extra={"short": (kind, plain)})


#: A field that is not written in files: it holds the name of the table.
TABLE_KEY = Meta(description="The name of the table.", extra={"is_key": True})

#: Blanks, control characters and invisible marks. They are spelled out because `\s` differs between languages.
_UNSEEN = r"\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f"
_UNSEEN += r"\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb"
NAME_MAX = 200
#: Letters, digits and underscores, and whatever is not ASCII: Python knows which of those are letters.
_LETTER, _LETTER_OR_DIGIT = r"[^\u0000-@\[-^`{-\u007f]", r"[^\u0000-/:-@\[-^`{-\u007f]"
_IDENTIFIER = rf"{_LETTER}{_LETTER_OR_DIGIT}*"
_DOTTED = rf"{_IDENTIFIER}(\.{_IDENTIFIER})*"


def _plain_name(name: str) -> str:
    plain = re.sub(r"[^\w.:@+=-]+", "-", name).strip("-.") or "task-1"
    return f"for example `{plain}`"


#: Names become directories and arguments: they have nothing that a path, a shell or a terminal misreads.
NameOrEmpty = Annotated[
    str,
    rule(maxLength=NAME_MAX),
    rule("must not have blanks, control characters or slashes", _plain_name, forbidden={"pattern": f"[{_UNSEEN}/]"}),
    rule("must not be `.` or `..`", _plain_name, forbidden={"enum": [".", ".."]}),
]
Name = Annotated[NameOrEmpty, rule(minLength=1)]
Kind = Annotated[
    NameOrEmpty,
    rule("must be one kind, not a pattern", "globs are for the `kinds` of a host", pattern=r"^[^*?\[]*$"),
]
Count = Annotated[int, rule(minimum=1)]
Priority = Annotated[int, rule("must be 0, 1, 2, 3 or 4", minimum=0, maximum=4)]
PRIORITY_HINT = "priorities go from 0 (critical) to 4 (backlog); leave it out for 2"
Amount = Annotated[float, rule("must be a finite number, 0 or more", minimum=0)]
Positive = Annotated[float, rule("must be a finite number above 0", exclusiveMinimum=0)]
#: A command and its arguments; none: there is no command.
CommandLine = Annotated[
    tuple[str, ...], rule("must name a program", prefixItems=[{"type": "string", "pattern": r"\S"}])
]
#: `package.module:function`, or nothing.
FunctionName = Annotated[
    str,
    rule("must name a function", 'write it like "package.module:function"', pattern=rf"^({_DOTTED}:{_DOTTED})?$"),
]
VariableName = Annotated[
    str,
    rule("is not a name of an environment variable", "take out the `=`", pattern=r"^[^=]+$"),
]
#: The name of the variable that has a secret, or nothing. What is refused here may be the secret itself.
SecretVariable = Annotated[
    str,
    rule(
        "must be the name of an environment variable, not the secret itself",
        'for example "OPENAI_API_KEY"',
        secret=True,
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
    ),
]
PORT_PATTERN = r"([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
HOST_PATTERN = r"(\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]\\]+)"
WEB_ADDRESS_PATTERN = rf"^[Hh][Tt][Tt][Pp][Ss]?://{HOST_PATTERN}(:{PORT_PATTERN}?)?([/?#]\S*)?$"
WITHOUT_USER_PATTERN = r"^[^/?#]*//[^/?#]*@"
#: An http or https address. A user name or password in it is a secret, so it is not repeated.
WebAddress = Annotated[
    str,
    rule(
        "must not have a user name or password in it",
        "API keys must not be stored in files; name the environment variable that has the key in `api_key_env`",
        secret=True,
        forbidden={"pattern": WITHOUT_USER_PATTERN},
    ),
    rule("must be an address", 'for example "http://127.0.0.1:11434/v1"', pattern=WEB_ADDRESS_PATTERN),
]
