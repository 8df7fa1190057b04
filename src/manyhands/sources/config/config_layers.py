"""The layers of a configuration: file, environment, flags. A later layer overrides an earlier one."""

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from manyhands.core.values.host import Width
from manyhands.readers.constraints import declared, is_union, members
from manyhands.readers.problems import FieldPath, Problem, Problems, did_you_mean
from manyhands.readers.shape import written_fields
from manyhands.sources.config.config_types import HOST_TYPES, StoreConfig
from manyhands.sources.config.landing_config import LandingConfig

#: Variables with these prefixes are ours, so one that names no setting is a mistake. Attempts get others.
_PREFIXES = ("MANYHANDS_STORE_", "MANYHANDS_HOSTS_", "MANYHANDS_LANDING_")
_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Layers:
    """One table of raw values. For each value that is not from the file, it knows what set it."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table
        self.origin_of: dict[FieldPath, str] = {}

    def put(self, path: tuple[str, ...], value: Any, origin: str) -> None:
        table = self.table
        for step in path[:-1]:
            table = table.setdefault(step, {})
            if not isinstance(table, dict):
                return  # the file has something else there, which the reader refuses
        table[path[-1]] = value
        self.origin_of[path] = origin


def settable_fields(table: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """Every setting that has a single value, with its type: of the sections and of the hosts in the table."""
    fields: dict[tuple[str, ...], Any] = {
        (section, name): field.type
        for section, kind in (("store", StoreConfig), ("landing", LandingConfig))
        for name, field in written_fields(kind).items()
    }
    hosts = table.get("hosts")
    for name, host in hosts.items() if isinstance(hosts, dict) else ():
        kind = HOST_TYPES.get(host.get("type", "")) if isinstance(host, dict) else None
        for field_name, field in written_fields(kind).items() if kind else ():
            fields["hosts", name, field_name] = field.type
    return fields


def variable_of(path: tuple[str, ...]) -> str:
    """`hosts.gpu-1.width` is set by `MANYHANDS_HOSTS_GPU_1_WIDTH`."""
    return "MANYHANDS_" + "_".join(re.sub(r"[^A-Z0-9]", "_", step.upper()) for step in path)


def put_environment(layers: Layers, environ: Mapping[str, str], problems: Problems) -> None:
    types = settable_fields(layers.table)
    paths = {variable_of(path): path for path in types}
    for variable in sorted(environ):
        if not variable.startswith(_PREFIXES):
            continue
        path = paths.get(variable)
        if path is None:
            hint = did_you_mean(variable, paths) or "unset it; `manyhands config` lists all settings"
            message = "there is no such setting, or no such host"
            problems.add(Problem(file=variable, field=variable, message=message, hint=hint))
            continue
        value = _value_of(environ[variable], types[path])
        if value is None:
            message = "a variable cannot say this; write it into manyhands.toml"
            problems.add(Problem(file=variable, field=".".join(path), message=message))
        else:
            layers.put(path, value, f"env {variable}")


def put_flags(layers: Layers, flags: Mapping[str, Any]) -> None:
    """Flags are named like settings: `store.dir`."""
    for name, value in flags.items():
        if value is not None:
            layers.put(tuple(name.split(".")), value, "flag")


def _value_of(text: str, kind: Any) -> Any:
    """The text converted to the type of its field. Text that cannot be converted stays: the reader refuses it."""
    kind = declared(kind).kind
    if is_union(kind):  # of a type and None: may be left out
        kind = declared(members(kind)[0]).kind
    if kind is str or get_origin(kind) is Literal:
        return text
    if kind is Width:
        return int(text) if text.isdecimal() else text
    if kind is bool:
        return _TRUTH.get(text.lower(), text)
    if kind is float:
        try:
            return float(text)
        except ValueError:
            return text  # "5s"
    if get_origin(kind) is tuple and declared(get_args(kind)[0]).kind is str:
        return [item.strip() for item in text.split(",") if item.strip()]
    return None
