"""Finds the configuration, puts its layers on top of each other, and refuses all of it if a part is wrong."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from manyhands.core.values.host import Rule, Width
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.errors import ConfigError
from manyhands.readers.problems import FieldPath, Problem, Problems, Sheet, describe
from manyhands.readers.shape import REFUSED, is_clean, is_too_deep, known, read_as
from manyhands.readers.text import decoded, obstacle, unreadable, whole_file
from manyhands.readers.toml_file import parse_toml
from manyhands.readers.toml_lines import TomlLines
from manyhands.sources.config.backlog_config import backlog_from
from manyhands.sources.config.budget_config import budget_from
from manyhands.sources.config.config_layers import Layers, put_environment, put_flags
from manyhands.sources.config.config_types import (
    BacklogConfig,
    Config,
    HostConfig,
    RayHost,
    Setting,
    StoreConfig,
    WorkerHost,
)
from manyhands.sources.config.database_url import without_secrets
from manyhands.sources.config.family_config import FamilyConfig, family_from
from manyhands.sources.config.host_config import host_from
from manyhands.sources.config.landing_config import LandingConfig
from manyhands.sources.config.model_tables import check_hosted, model_from
from manyhands.sources.config.route_config import RouteConfig, route_from
from manyhands.sources.config.tell_config import TellConfig, tell_from
from manyhands.worker.values.model_config import ModelConfig

FILE_NAME = "manyhands.toml"
_Section = TypeVar("_Section", StoreConfig, LandingConfig)
_SECRET = re.compile("key|token|secret|pass|credential", re.IGNORECASE)
SECTIONS = ["hosts", "rules", "families", "routes", "budgets", "tell", "store", "landing", "backlogs", "models"]


class ConfigRefused(ConfigError):
    """Nothing of the configuration is used. `problems` has the first thousand, `total` counts all."""

    def __init__(self, problems: list[Problem], total: int | None = None) -> None:
        self.problems = problems
        self.total = len(problems) if total is None else total
        super().__init__(*describe("config", problems, self.total))


def find_file(start: Path) -> Path | None:
    """The nearest `manyhands.toml`, here or in a directory above."""
    for directory in (start, *start.parents):
        if (directory / FILE_NAME).is_file():
            return directory / FILE_NAME
    return None


def load_config(
    start: Path | None = None,
    *,
    config_file: Path | None = None,
    hosts_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
    default_width: int | None = None,
) -> Config:
    """Each value from default < file < environment < flag; raises `ConfigRefused` with all that is wrong.

    The hosts of `hosts_file` take the place of those in the config. `flags` are named like settings (`store.dir`).
    `default_width` is for hosts that nobody gave a width: where none is configured it is theirs, and configured ones
    start from it. Left out, the clutch decides.
    """
    start = (start or Path.cwd()).absolute()
    environ = os.environ if environ is None else environ
    if config_file is None and environ.get("MANYHANDS_CONFIG"):
        config_file = Path(environ["MANYHANDS_CONFIG"])
    file = start / config_file if config_file is not None else find_file(start)
    problems = Problems()
    table, line_of = _read(file, start, SECTIONS, problems) if file else ({}, TomlLines({}))
    sources: dict[str, tuple[str, TomlLines]] = {name: (_shown(file, start), line_of) for name in SECTIONS}
    if hosts_file is not None:
        more, hosts_line_of = _read(start / hosts_file, start, ["hosts"], problems)
        table["hosts"] = more.get("hosts", {})
        sources["hosts"] = (_shown(start / hosts_file, start), hosts_line_of)
    layers = Layers(table)
    if not table.get("hosts"):
        put_default_hosts(layers, default_width)
    if not problems.total:
        put_environment(layers, environ, problems)
    put_flags(layers, flags or {})
    parts = _Parts(layers, sources, problems)
    hosts, rules, store, backlogs = parts.hosts(), parts.rules(), parts.store(), parts.backlogs()
    landing, models = parts.landing(), parts.models()
    families, routes = parts.families([host.name for host in hosts]), parts.routes()
    budgets, tell = parts.budgets(), parts.tell()
    parts.check_hosted(hosts, models)
    if problems.total:
        raise ConfigRefused(problems.by_line(), problems.total)
    if default_width is not None:
        hosts = tuple(
            msgspec.structs.replace(host, width=Width(start=default_width)) if host.width == Width() else host
            for host in hosts
        )
    workspace = file.parent if file else start
    config = Config(
        workspace, file, hosts, rules, store, (), backlogs, landing, families, models, routes, budgets, tell
    )
    return msgspec.structs.replace(config, settings=tuple(parts.settings(config)))


def _read(file: Path, start: Path, sections: list[str], problems: Problems) -> tuple[dict[str, Any], TomlLines]:
    nothing: tuple[dict[str, Any], TomlLines] = {}, TomlLines({})
    name = _shown(file, start)
    if problem := obstacle(file, name, FILE_NAME):
        problems.add(problem)
        return nothing
    try:
        text = decoded(whole_file(file), name, problems)
    except OSError as error:
        problems.add(unreadable(name, error))
        return nothing
    parsed = parse_toml(name, text, problems) if text is not None else None
    if parsed is None:
        return nothing
    table, line_of = parsed
    sheet = Sheet(name, line_of, problems)
    if is_too_deep(table):
        problems.add(Problem(file=name, message="is nested too deeply"))
        return nothing
    is_clean(table, (), sheet)
    for key in table:
        known(key, sections, (), sheet)
    return table, line_of


def _shown(file: Path | None, start: Path) -> str:
    """As a person standing in `start` would name it."""
    if file is None:
        return FILE_NAME
    return str(file.relative_to(start)) if file.is_relative_to(start) else str(file)


class _Parts:
    """The parts of the configuration, each with its problems told at the place that set it."""

    def __init__(self, layers: Layers, sources: dict[str, tuple[str, TomlLines]], problems: Problems) -> None:
        self._layers = layers
        self._sources = sources
        self._problems = problems

    def _sheet(self, section: str) -> Sheet:
        file, line_of = self._sources[section]
        return _LayeredSheet(file, line_of, self._problems, self._layers)

    def hosts(self) -> tuple[HostConfig, ...]:
        sheet = self._sheet("hosts")
        table = self._layers.table.get("hosts")
        if not isinstance(table, dict):
            sheet.wrong(("hosts",), table, "must be a table of hosts", 'write [hosts.local] and `type = "shell"`')
            return ()
        found = [host_from(name, host, sheet) for name, host in table.items()]
        return tuple(host for host in found if host is not None)

    def rules(self) -> tuple[Rule, ...]:
        sheet = self._sheet("rules")
        table = self._layers.table.get("rules", [])
        if not isinstance(table, list):
            hint = 'write [[rules]] with `kind = "…"` and `after = "…"`'
            sheet.wrong(("rules",), table, "must be a list of tables", hint)
            return ()
        found = [read_as(Rule, row, ("rules", place), sheet) for place, row in enumerate(table)]
        return tuple(msgspec.convert(rule, Rule) for rule in found if rule is not REFUSED)

    def store(self) -> StoreConfig:
        return self._section("store", StoreConfig)

    def landing(self) -> LandingConfig:
        return self._section("landing", LandingConfig)

    def _section(self, name: str, kind: type[_Section]) -> _Section:
        plain = read_as(kind, self._layers.table.get(name, {}), (name,), self._sheet(name))
        return kind() if plain is REFUSED else msgspec.convert(plain, kind)

    def backlogs(self) -> tuple[BacklogConfig, ...]:
        sheet = self._sheet("backlogs")
        table = self._layers.table.get("backlogs", [])
        if not isinstance(table, list):
            hint = 'write [[backlogs]] with `plan = "…"`, `beads = "…"`, `redis = {…}` or `postgres = {…}`'
            sheet.wrong(("backlogs",), table, "must be a list of tables", hint)
            return ()
        found = [backlog_from(row, ("backlogs", place), sheet) for place, row in enumerate(table)]
        return tuple(backlog for backlog in found if backlog is not None)

    def families(self, hosts: Collection[str]) -> dict[str, FamilyConfig]:
        sheet = self._sheet("families")
        table = self._layers.table.get("families", {})
        if not isinstance(table, dict):
            sheet.wrong(("families",), table, "must be a table of families", "write [families.kernel]")
            return {}
        found = {name: family_from(name, row, hosts, sheet) for name, row in table.items()}
        return {name: family for name, family in found.items() if family is not None}

    def models(self) -> tuple[ModelConfig, ...]:
        sheet = self._sheet("models")
        table = self._layers.table.get("models", {})
        if not isinstance(table, dict):
            sheet.wrong(("models",), table, "must be a table of models", 'write [models.minilm] and `path = "…"`')
            return ()
        found = [model_from(name, model, sheet) for name, model in table.items()]
        return tuple(model for model in found if model is not None)

    def check_hosted(self, hosts: tuple[HostConfig, ...], models: tuple[ModelConfig, ...]) -> None:
        for host in hosts:
            if (isinstance(host, WorkerHost) and not host.url) or (isinstance(host, RayHost) and host.models):
                check_hosted(host.name, host.models, host.model, models, self._sheet("hosts"))

    def routes(self) -> dict[str, RouteConfig]:
        sheet = self._sheet("routes")
        table = self._layers.table.get("routes", {})
        if not isinstance(table, dict):
            sheet.wrong(("routes",), table, "must be a table of routes", "write [[routes.search.sinks]]")
            return {}
        found = {app: route_from(app, row, sheet) for app, row in table.items()}
        return {app: route for app, route in found.items() if route is not None}

    def budgets(self) -> tuple[SpendingLimit, ...]:
        sheet = self._sheet("budgets")
        table = self._layers.table.get("budgets", {})
        if not isinstance(table, dict):
            sheet.wrong(("budgets",), table, "must be a table of budgets", 'write [budgets.daily] and `per = "day"`')
            return ()
        found = [budget_from(name, row, sheet) for name, row in table.items()]
        return tuple(budget for budget in found if budget is not None)

    def tell(self) -> tuple[TellConfig, ...]:
        sheet = self._sheet("tell")
        table = self._layers.table.get("tell", [])
        if not isinstance(table, list):
            sheet.wrong(("tell",), table, "must be a list of tables", "write [[tell]] with `desktop = true`")
            return ()
        found = [tell_from(row, ("tell", place), sheet) for place, row in enumerate(table)]
        return tuple(way for way in found if way is not None)

    def settings(self, config: Config) -> list[Setting]:
        found: list[Setting] = []
        for host in config.hosts:
            kind = host.__struct_config__.tag
            found.append(self._setting(("hosts", host.name, "type"), kind))
            for name in host.__struct_fields__:
                if name != "name":
                    found.append(self._setting(("hosts", host.name, name), getattr(host, name)))
        for place, rule in enumerate(config.rules):
            found.append(self._setting(("rules", place), rule))
        for name, family in config.families.items():
            found.append(self._setting(("families", name), family))
        for app, route in config.routes.items():
            found.append(self._setting(("routes", app), route.for_people()))
        for budget in config.budgets:
            found.append(self._setting(("budgets", budget.name), msgspec.structs.replace(budget, name="")))
        for place, way in enumerate(config.tell):
            found.append(self._setting(("tell", place), way))
        for title, section in (("store", config.store), ("landing", config.landing)):
            for name in section.__struct_fields__:
                found.append(self._setting((title, name), getattr(section, name)))
        for place, backlog in enumerate(config.backlogs):
            found.append(self._setting(("backlogs", place), backlog))
        for model in config.models:
            found.append(self._setting(("models", model.name), msgspec.structs.replace(model, name="")))
        return found

    def _setting(self, path: FieldPath, value: object) -> Setting:
        name = ".".join(str(step) for step in path)
        shown_value = _masked(value) if path[-1] == "env" and isinstance(value, dict) else _plain(value)
        if path[-1] == "url" and isinstance(value, str):
            shown_value = without_secrets(value)
        return Setting(name, shown_value, self._origin(path))

    def _origin(self, path: FieldPath) -> str:
        if path in self._layers.origin_of:
            return self._layers.origin_of[path]
        table: Any = self._layers.table
        for step in path:
            if isinstance(table, dict) and step not in table:
                return "default"
            table = table[step]
        file, line_of = self._sources[str(path[0])]
        return f"{file} line {line_of(path)}"


class _LayeredSheet(Sheet):
    """A file under inspection of which some values were replaced: a problem with those is told of what set them."""

    def __init__(self, file: str, line_of: TomlLines, problems: Problems, layers: Layers) -> None:
        super().__init__(file, line_of, problems)
        self._origin_of = layers.origin_of

    def tell(self, path: FieldPath, message: str, hint: str = "", value: object = None) -> None:
        origin = next((self._origin_of[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._origin_of), "")
        if origin:
            Sheet(origin, lambda _: 0, self.problems).tell(path, message, hint, value)
        else:
            super().tell(path, message, hint, value)


def _masked(env: dict[str, str]) -> dict[str, str]:
    """Variables may be secrets: those that are called so are not shown."""
    return {name: "…" if _SECRET.search(name) else value for name, value in env.items()}


def _plain(value: object) -> Any:
    """As people would write it: a pinned width is a number."""
    if isinstance(value, Width):
        if value.max is not None and value.min == value.max:
            return value.min
        return msgspec.to_builtins(value) or None
    return list(value) if isinstance(value, tuple) else msgspec.to_builtins(value)


def put_default_hosts(layers: Layers, width: int | None) -> None:
    """Without any host in a file: commands and functions, from as many at once as there are cores."""
    for name, type in (("local", "shell"), ("python", "python")):
        layers.put(("hosts", name, "type"), type, "default")
        if width is not None:
            layers.put(("hosts", name, "width"), width, "flag --concurrency")
        else:
            layers.put(("hosts", name, "width"), {"start": os.cpu_count() or 1}, "default")
