"""How a command is declared: a function whose parameters say what may be typed.

A parameter is `Annotated[type, Option(…)]` or `Annotated[type, Argument(…)]`. A parameter whose type is a NamedTuple
of such fields takes them all at once, so that options which belong together travel as one value.
"""

import enum
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from manyhands.errors import UsageError

REQUIRED: Any = object()
#: What stands for the value in help, as in `--limit N`.
_METAVARS: dict[type, str] = {int: "N", float: "NUMBER", Path: "FILE", str: "TEXT"}


class Option:
    """`Option("--output", "-o")`; `Option("--ignore/--no-ignore")` can be said both ways; no name: the parameter's."""

    def __init__(
        self,
        *names: str,
        help: str,
        metavar: str = "",
        min: int | None = None,
        max: int | None = None,
        hidden: bool = False,
    ) -> None:
        self.names, self.help, self.metavar = names, help, metavar
        self.min, self.max = min, max
        self.hidden = hidden


class Argument:
    def __init__(self, metavar: str, help: str, min: int | None = None) -> None:
        self.metavar, self.help = metavar, help
        self.min, self.max = min, None


class Field:
    """One thing that may be typed, and how its text becomes a value."""

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        self.name, self.default = name, default
        wanted, self.declared = _parts_of(annotation)
        self.is_list = get_origin(wanted) is Sequence
        self.type: Any = get_args(wanted)[0] if self.is_list else wanted
        self.is_flag = self.type is bool
        names = self.declared.names if isinstance(self.declared, Option) else ()
        names = names or (f"--{name.replace('_', '-')}",)
        on, _, off = names[0].partition("/")
        self.names = (on, *names[1:])
        self.off = off

    @property
    def choices(self) -> tuple[str, ...]:
        if get_origin(self.type) is Literal:
            return get_args(self.type)
        is_enum = isinstance(self.type, type) and issubclass(self.type, enum.Enum)
        return tuple(each.value for each in self.type) if is_enum else ()

    @property
    def metavar(self) -> str:
        return self.declared.metavar or "|".join(self.choices) or _METAVARS.get(self.type, "")

    @property
    def shown(self) -> str:
        """As messages name it."""
        return self.metavar if isinstance(self.declared, Argument) else self.names[0]

    def convert(self, text: str) -> Any:
        """The value that was typed, or an error that names it."""
        if self.choices:
            if text not in self.choices:
                *others, last = self.choices
                raise UsageError(f"`{self.shown}` must be {', '.join(others)} or {last}, got `{text}`")
            return text if get_origin(self.type) is Literal else self.type(text)
        if self.type not in (int, float):
            return self.type(text)
        try:
            number = self.type(text)
        except ValueError:
            what = "a whole number" if self.type is int else "a number"
            raise UsageError(f"`{self.shown}` must be {what}, got `{text}`") from None
        self._check_range(number)
        return number

    def _check_range(self, number: float) -> None:
        low, high = self.declared.min, self.declared.max
        if low is not None and high is not None and not low <= number <= high:
            raise UsageError(f"`{self.shown}` must be from {low} to {high}, got {number}")
        if low is not None and number < low:
            raise UsageError(f"`{self.shown}` must be at least {low}, got {number}")


def _parts_of(annotation: Any) -> tuple[Any, Option | Argument]:
    """The type that is wanted, without its `| None`, and the declaration beside it."""
    wanted, declared = get_args(annotation)
    if get_origin(wanted) is UnionType:
        (wanted,) = (each for each in get_args(wanted) if each is not NoneType)
    return wanted, declared


class FieldGroup:
    """A parameter that is a NamedTuple of fields."""

    def __init__(self, name: str, type: Any) -> None:
        self.name, self.type = name, type
        defaults = type._field_defaults
        self.fields = [Field(each, kind, defaults.get(each, REQUIRED)) for each, kind in type.__annotations__.items()]


class CliCommand:
    """A function to call with what was typed. It returns the exit code; nothing is 0."""

    def __init__(self, body: Callable[..., int | None], epilog: str = "") -> None:
        self.body, self.epilog = body, epilog
        self.text = body.__doc__ or ""

    @cached_property
    def parameters(self) -> list["Field | FieldGroup"]:
        return list(_parameters(self.body))

    @property
    def fields(self) -> Iterator[Field]:
        for each in self.parameters:
            if isinstance(each, FieldGroup):
                yield from each.fields
            else:
                yield each

    @property
    def arguments(self) -> list[Field]:
        return [each for each in self.fields if isinstance(each.declared, Argument)]

    @property
    def options(self) -> list[Field]:
        return [each for each in self.fields if isinstance(each.declared, Option)]

    def call(self, values: dict[str, Any]) -> int | None:
        arguments: dict[str, Any] = {}
        for each in self.parameters:
            if isinstance(each, FieldGroup):
                arguments[each.name] = each.type(**{field.name: values[field.name] for field in each.fields})
            else:
                arguments[each.name] = values[each.name]
        return self.body(**arguments)


def _parameters(body: Callable[..., Any]) -> Iterator[Field | FieldGroup]:
    # Not by `inspect.signature`: loading `inspect` alone takes longer than all of the parsing.
    names = body.__code__.co_varnames[: body.__code__.co_argcount]
    defaults = dict(zip(reversed(names), reversed(body.__defaults__ or ()), strict=False))
    for name in names:
        annotation = body.__annotations__[name]
        if hasattr(annotation, "_field_defaults"):
            yield FieldGroup(name, annotation)
        else:
            yield Field(name, annotation, defaults.get(name, REQUIRED))


class Noun:
    """A first word: a command by itself, a group of verbs, or both."""

    def __init__(self, bare: Callable[..., int | None] | None = None, *, text: str = "", epilog: str = "") -> None:
        self.bare = None if bare is None else CliCommand(bare, epilog)
        self.text = text or (self.bare.text if self.bare else "")
        self.verbs: dict[str, CliCommand] = {}
        self.assumed = ""  # the verb that is meant where none is typed

    def verb(self, name: str, assumed: bool = False) -> Callable[[Callable[..., int | None]], Any]:
        def add(body: Callable[..., int | None]) -> Callable[..., int | None]:
            self.verbs[name] = CliCommand(body)
            if assumed:
                self.assumed = name
            return body

        return add
