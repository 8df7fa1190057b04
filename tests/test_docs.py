"""Documentation is executed, generated or checked: commands run, links lead somewhere, no field or word is missing."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from manyhands import __version__
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Rate, Rule, Width
from manyhands.core.values.task import Task, TaskState
from manyhands.hosts.executors import template
from manyhands.hosts.probes.probe_choice import PROBE_NAMES
from manyhands.sources.config.config_types import HOST_TYPES, StoreConfig
from manyhands.sources.plans.plan_settings import PlanSettings
from surfaces.cli.console import Console

ROOT = Path(__file__).parents[1]
#: Its commands are run in a repository with an agent, by tests/apps/setup/test_tutorial.py.
TUTORIAL = ROOT / "docs" / "tutorial.md"
DOCS = sorted(path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
EXIT = re.compile(r"\s+# exits (\d+)$")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def commands(text: str) -> Iterator[tuple[list[str], int]]:
    """What stands after `$ manyhands` in console blocks, and what it should exit with: 0 unless it says `# exits N`."""
    for block in CONSOLE.findall(text):
        for line in block.splitlines():
            if line.startswith("$ manyhands "):
                code = EXIT.search(line)
                yield EXIT.sub("", line).split()[2:], int(code[1]) if code else 0


@pytest.mark.parametrize(
    "doc", [doc for doc in DOCS if doc != TUTORIAL and list(commands(doc.read_text()))], ids=name_of
)
def test_every_command_does_what_it_says(doc: Path, tmp_path: Path) -> None:
    """In order, in a directory that has the examples and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    console = Console(tmp_path)
    for arguments, code in commands(doc.read_text()):
        done = console.run(*arguments)
        assert done.code == code, f"manyhands {' '.join(arguments)}\n{done.out}{done.err}"
        assert "Traceback" not in done.err


@pytest.mark.parametrize("doc", DOCS, ids=name_of)
def test_links_lead_somewhere(doc: Path) -> None:
    text = doc.read_text()
    wrong = []
    for link in LINK.findall(text):
        file, _, heading = link.partition("#")
        if "://" in file:
            continue
        target = (doc.parent / file).resolve() if file else doc
        if not target.exists() or (heading and heading not in headings(target)):
            wrong.append(link)
    assert wrong == []


def headings(file: Path) -> set[str]:
    """As GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def mentioned(doc: str) -> set[str]:
    """Every word that stands in code: in backticks or in an example."""
    text = (ROOT / doc).read_text()
    code = [*re.findall(r"`([^`\n]+)`", text), *re.findall(r"```(?:toml|console)?\n(.*?)```", text, re.DOTALL)]
    return {word for piece in code for word in re.findall(r"[A-Za-z_]\w*", piece)}


def test_every_field_of_a_task_and_a_plan_is_explained() -> None:
    words = mentioned("docs/plans.md")
    assert {*Task.__struct_fields__, *PlanSettings.__struct_fields__} - words == set()
    source = Path(template.__file__).read_text()
    variables, fields = re.findall(r'"(MANYHANDS_\w+)"', source), re.findall(r'^ +"([a-z_]+)": ', source, re.MULTILINE)
    assert len(variables) > 5
    assert len(fields) > 5
    assert {*variables, *fields} - words == set()


def test_every_field_of_the_configuration_is_explained() -> None:
    words = mentioned("docs/hosts.md")
    fields = {field for kind in HOST_TYPES.values() for field in kind.__struct_fields__} - {"name"}
    others = {field for kind in (StoreConfig, Rate, Rule, Width) for field in kind.__struct_fields__}
    assert {*fields, *others, *HOST_TYPES, *PROBE_NAMES} - words == set()


def test_the_tables_of_fields_are_those_of_the_declarations() -> None:
    command = [sys.executable, str(ROOT / "docs" / "field_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_files_that_name_their_schema_keep_it(tmp_path: Path) -> None:
    """The commands that write the schemas are run, and every example that names one is held to it."""
    text = (ROOT / "docs" / "plans.md").read_text()
    console = Console(tmp_path)
    schemas = {
        file: json.loads(console.run(*command.split()).out)
        for command, file in re.findall(r"^manyhands (.+) > (\S+)$", text, re.MULTILINE)
    }
    assert set(schemas) == {"plan.schema.json", "manyhands.schema.json"}
    in_toml = re.findall(r"^```toml\n#:schema \./(\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    modeline = r"^```yaml\n# yaml-language-server: \$schema=\./(\S+)\n(.*?)^```"
    in_yaml = re.findall(modeline, text, re.MULTILINE | re.DOTALL)
    found = [(file, tomllib.loads(example)) for file, example in in_toml]
    found += [(file, yaml.safe_load(example)) for file, example in in_yaml]
    assert len(found) == 2
    for file, document in found:
        assert [error.message for error in Draft202012Validator(schemas[file]).iter_errors(document)] == []


def test_every_state_and_ending_is_in_the_glossary() -> None:
    glossary = (ROOT / "GLOSSARY.md").read_text()
    states = glossary.split("Task states:")[1]
    assert [state for state in TaskState if f"`{state}`" not in states] == []
    endings = next(line for line in glossary.splitlines() if line.startswith("| ending |"))
    assert [kind for kind in EndingKind if not re.search(rf"\b{kind}\b", endings)] == []


def test_the_changelog_is_of_this_version() -> None:
    first = re.search(r"^## (\S+?),", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None
    assert first[1] == __version__


@pytest.mark.parametrize("script", ["readme_numbers.py", "campaign_page.py"])
def test_the_numbers_in_the_docs_are_those_of_the_benches(script: str) -> None:
    command = [sys.executable, str(ROOT / "bench" / script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
