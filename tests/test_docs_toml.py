"""Every TOML block of the documentation loads: as a plan if it has tasks, else as a config or as part of one."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from manyhands.apps.evals.spec.spec_file import read_spec
from manyhands.sources.config.config_reading import load_config
from manyhands.sources.plans.plan_reading import read_plan

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str]]:
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        for number, block in enumerate(BLOCK.findall(page.read_text()), 1):
            yield f"{page.relative_to(ROOT)}-{number}", block


BLOCKS = dict(blocks())


_TASK = '[[task]]\nid = "a"\nparent = "epic-1"\n'
#: Blocks that show a part, with what stands above it: by their tables, or by page.
ABOVE = {
    ("run",): _TASK,
    ("claims",): f'{_TASK}run = ["true"]\n',
    ("plan",): f'{_TASK}run = ["true"]\n',
    ("probe",): '[hosts.box]\ntype = "openai"\nurl = "http://box:11434/v1"\nmodel = "m"\n',
    "docs/ray.md-2": '[models.chat]\npath = "chat.gguf"\n[hosts.gpu]\ntype = "ray"\nmodels = ["chat"]\n',
    "docs/worker.md-3": '[models.minilm]\npath = "models/minilm"\n',
}
#: The config of another program.
FOREIGN = ("mcp_servers",)
SECRETS = ("OPENAI_API_KEY", "WORK_URL", "GITHUB_TOKEN")


@pytest.mark.parametrize("name", [name for name, block in BLOCKS.items() if tuple(tomllib.loads(block)) != FOREIGN])
def test_a_toml_block_loads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tuple(sorted(tomllib.loads(BLOCKS[name])))
    text = ABOVE.get(name, ABOVE.get(tables, "")) + BLOCKS[name]
    if "arm" in tables:
        _put_what_an_eval_needs(text, tmp_path, monkeypatch)
        (tmp_path / "eval.toml").write_text(text)
        assert read_spec(tmp_path / "eval.toml").spec.cases
    elif "[[task]]" in text:
        (tmp_path / "plan.toml").write_text(text)
        assert read_plan([tmp_path / "plan.toml"]).tasks
    else:
        (tmp_path / "manyhands.toml").write_text(text)
        assert load_config(tmp_path, environ=dict.fromkeys(SECRETS, "x")).core_hosts()


def _put_what_an_eval_needs(text: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory / "claude").write_text("#!/bin/sh\n")
    (directory / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(directory), prepend=os.pathsep)
    for case in tomllib.loads(text)["case"]:
        (directory / case["files"]).mkdir(parents=True)
