"""docs/service.md says what is so: every metric and action is in it, and its service files are sound."""

import configparser
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from manyhands.apps.serve import event_log
from manyhands.core.events import WorkersMoved
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.api.metrics import Metrics
from manyhands.surfaces.cli import serve as serve_command
from manyhands.surfaces.cli.main import noun_of
from surfaces.api.live import nap, open_run, shell

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "service.md").read_text()


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    return str(found)


async def test_every_metric_is_listed_with_its_type_and_labels(live: Dispatcher) -> None:
    metrics = Metrics(live)
    await open_run(live, [nap("a", 600), shell("b", "exit 0")])
    attempt = next(number for number, one in live.book.running.items() if one.record.task.id == "a")
    live.ended(attempt, Ending(EndingKind.DONE, tokens_in=1, cost=0.5))  # as a model would
    await live.wait_settled("r")
    await live.submit(WorkersMoved(live.clock.now(), next(iter(live.book.hosts)), 1, 0, "as of a ray host"))
    there = {}
    for family in metrics.registry.collect():
        if family.name.startswith("manyhands_"):
            labels = {name for sample in family.samples for name in sample.labels} - {"le"}
            name = family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")
            there[name] = ("gauge" if family.type == "info" else family.type, labels)
    rows = re.findall(r"^\| `(manyhands_\w+)` \| (\w+) \| (.*?)\| \S", TEXT, re.MULTILINE)
    assert {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows} == there


def test_every_action_of_the_log_is_listed() -> None:
    sources = [*Path(event_log.__file__).parent.glob("*.py"), Path(serve_command.__file__)]
    pattern = r'"action": "(\w+)"|(?:\blog\(|_log\(|talk\(|_tell_once\([^"]*)\s*"(\w+)"'
    written = {one or other for path in sources for one, other in re.findall(pattern, path.read_text())}
    written |= {*event_log._ASKED.values(), *event_log._OF_RUN.values()}
    section = TEXT.split("| `action` |")[1].split("\n\n")[0]
    listed = {name for row in section.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert listed == written


def options_of_serve() -> set[str]:
    command = noun_of("serve").bare
    assert command is not None
    return {name for option in command.options for name in option.names}


def check_arguments(arguments: list[str]) -> None:
    assert Path(arguments[0]).name == "manyhands"
    assert arguments[1] == "serve"
    assert {one for one in arguments if one.startswith("--")} <= options_of_serve()


def test_the_systemd_unit_starts_serve_with_options_it_has(tmp_path: Path) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(block("ini"))
    check_arguments(shlex.split(unit["Service"]["ExecStart"]))
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here; the rest was checked")
    file = tmp_path / "manyhands.service"
    file.write_text(block("ini").replace("%h/src/shop/.venv/bin/manyhands", "/bin/true").replace("%h/src/shop", "/"))
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)
    assert [row for row in done.stderr.splitlines() if "manyhands.service" in row] == []


def test_it_is_said_to_be_made_for_linux_and_experimental_elsewhere() -> None:
    assert "manyhands is made for Linux. On macOS it is [experimental](#macos)." in TEXT
    everywhere = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
    assert [path.name for path in everywhere if re.search("launchd|LaunchAgents", path.read_text())] == []


def test_the_example_of_backlogs_is_toml() -> None:
    assert len(tomllib.loads(block("toml"))["backlogs"]) == 2
