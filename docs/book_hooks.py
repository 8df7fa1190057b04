"""Makes a book of these pages: its first page is the README, and pages of the reference are written from the code.

MkDocs calls `on_files` and `on_page_markdown` (`make docs`). Links to what is not in the book lead to the repository.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from field_tables import field_table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from msgspec import Struct

from manyhands.core import events
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import Rule
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.core.values.task import Task
from manyhands.readers.shape import written_fields
from manyhands.sources.config.config_types import HOST_TYPES, BacklogConfig, LandingConfig, StoreConfig
from manyhands.sources.config.tell_config import TellConfig
from manyhands.sources.plans.plan_settings import PlanSettings
from manyhands.surfaces.api.endpoints import ENDPOINTS, PREFIX
from manyhands.surfaces.api.metrics import Metrics
from manyhands.surfaces.cli.main import NOUNS, noun_of
from manyhands.surfaces.cli.parsing.help_text import command_help, noun_help
from manyhands.surfaces.mcp.tools import tools

ROOT = Path(__file__).parents[1]
#: Pages of the book that are files beside `docs`.
BESIDE = {"index.md": "README.md", "glossary.md": "GLOSSARY.md", "changelog.md": "CHANGELOG.md"}
WIDTH = 80
#: Heading → what is declared there.
CONFIG: dict[str, type[Struct]] = {
    **{f'`[hosts.…]` with `type = "{name}"`': kind for name, kind in HOST_TYPES.items()},
    "`[[rules]]`": Rule,
    "`[[backlogs]]`": BacklogConfig,
    "`[landing]`": LandingConfig,
    "`[store]`": StoreConfig,
    "`[[budgets]]`": SpendingLimit,
    "`[[tell]]`": TellConfig,
}
PLAN: dict[str, type[Struct]] = {"`[[task]]`": Task, "The plan as a whole": PlanSettings}
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    pages = {name: (ROOT / file).read_text() for name, file in BESIDE.items()}
    pages["reference/cli.md"] = commands()
    pages["reference/config.md"] = tables_of("Configuration", "[Hosts](../hosts.md) explains them", CONFIG)
    pages["reference/plan.md"] = tables_of("Plan fields", "[Plans](../plans.md) explains them", PLAN)
    pages["reference/metrics.md"] = metrics_of_serve()
    pages["reference/http.md"] = paths_of_http()
    pages["reference/mcp-tools.md"] = tools_of_mcp()
    pages["reference/events.md"] = journal_events()
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    place = page.file.src_uri
    file = BESIDE.get(place) or f"docs/{place}"  # where the page is in the repository
    in_book = {f"docs/{name}": name for name in files.src_uris} | {name: book for book, name in BESIDE.items()}

    def led(found: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(file), found[1]))
        if target in in_book:
            link = os.path.relpath(in_book[target], os.path.dirname(place) or ".")
        else:
            link = f"{config.repo_url}/blob/main/{target}"
        return f"]({link}{found[2] or ''})"

    return _LINK.sub(led, markdown)


def commands() -> str:
    parts = ["# Commands\n\nEach text is what the command prints with `--help`.\n"]
    for name in NOUNS:
        noun = noun_of(name)
        path = f"manyhands {name}"
        alone = noun.bare if noun.bare and not noun.verbs else None
        parts.append(printed(2, path, command_help(path, alone, WIDTH) if alone else noun_help(path, noun, WIDTH)))
        for verb, command in noun.verbs.items():
            parts.append(printed(3, f"{path} {verb}", command_help(f"{path} {verb}", command, WIDTH)))
    return "\n".join(parts)


def tables_of(title: str, about: str, declared: Mapping[str, type[Struct]]) -> str:
    parts = [f"# {title}\n\n{about}.\n"]
    parts += [f"## {heading}\n\n{field_table(kind, list(written_fields(kind)))}" for heading, kind in declared.items()]
    return "\n".join(parts)


def metrics_of_serve() -> str:
    rows = [
        "# Metrics\n\n`/metrics` of `manyhands serve` has these. [The service](../service.md#metrics) has labels.\n",
        "| metric | type | says |",
        "|---|---|---|",
    ]
    for family in Metrics(Idle()).registry.collect():
        if family.name.startswith("manyhands_"):
            ending = {"counter": "_total", "info": "_info"}.get(family.type, "")
            rows.append(f"| `{family.name}{ending}` | {family.type} | {cell(family.documentation)} |")
    return "\n".join(rows) + "\n"


class Idle:
    """A dispatcher that has done nothing: its metrics have names, types and meanings."""

    def __init__(self) -> None:
        self.book = Scheduler().book
        self.recorded: list[Callable[[Sequence[events.AnyEvent]], None]] = []
        self.commit_s = 0.0


def printed(level: int, title: str, text: str) -> str:
    return f"{'#' * level} {title}\n\n```text\n{text.rstrip()}\n```\n"


def paths_of_http() -> str:
    rows = [
        "# HTTP paths\n\n[The page and the API](../api.md) explains them. `/api/v1/openapi.json` has the types.\n",
        "| method | path | query | does |",
        "|---|---|---|---|",
    ]
    for one in ENDPOINTS:
        query = ", ".join(f"`{name}`" for name in one.query.__struct_fields__)
        rows.append(f"| {one.method} | `{PREFIX}{one.path}` | {query} | {cell(one.summary)} |")
    return "\n".join(rows) + "\n"


def tools_of_mcp() -> str:
    rows = [
        "# Tools for agents\n\n[For agents](../mcp.md) says how a client gets them.\n",
        "| tool | takes | changes something | does |",
        "|---|---|---|---|",
    ]
    for tool in tools(read_only=False).values():
        takes = ", ".join(f"`{name}`" for name in tool.takes.__struct_fields__)
        rows.append(f"| `{tool.name}` | {takes} | {'yes' if tool.changes else ''} | {cell(tool.about)} |")
    return "\n".join(rows) + "\n"


def journal_events() -> str:
    rows = [
        "# Events\n\nWhat a journal has, in the order of its definition.\n",
        "| type | fields | means |",
        "|---|---|---|",
    ]
    for kind in vars(events).values():
        if isinstance(kind, type) and issubclass(kind, events.Event) and kind is not events.Event:
            means = cell((kind.__doc__ or "").partition("\n\n")[0])
            fields = ", ".join(f"`{name}`" for name in kind.__struct_fields__)
            rows.append(f"| `{kind.__struct_config__.tag}` | {fields} | {means} |")
    return "\n".join(rows) + "\n"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
