"""The repository of the story, its configuration and its plan, written to a directory."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.values.task import WORKTREE, Claims, Task
from manyhands.errors import Unavailable, UsageError
from manyhands.sources.config.config_reading import FILE_NAME
from manyhands.sources.split.plan_file import write_plan

PLAN = "shop.toml"
#: module → its function: parameters, and what it returns
MODULES = {
    "cart": ("total(prices)", "sum(prices)"),
    "tax": ("with_tax(price, rate)", "price * (1 + rate)"),
    "stock": ("is_low(quantity)", "quantity < 3"),
    "mail": ("subject(name)", "f'Your order, {name}'"),
    "search": ("first(names)", "min(names)"),
    "users": ("shown(name)", "name.strip().title()"),
    "refunds": ("refund(price, rate)", "price * rate"),
    "parcels": ("postage(weight)", "4.5 + 0.5 * weight"),
    "labels": ("label(text)", "text.upper()"),
    "report": ("mean(prices)", "sum(prices) / len(prices)"),
}
_CHECK = (sys.executable, "-m", "unittest", "-q")
_DESCRIBED = 48
_PROGRAMS = Path(__file__).parent
_TESTS = """import importlib
import unittest


class EveryModule(unittest.TestCase):
    def test_it_can_be_imported(self):
        for name in {names}:
            importlib.import_module("shop." + name)


if __name__ == "__main__":
    unittest.main()
"""
_DISCOUNT_CHECK = """import unittest

from shop.discount import discounted


class Discounts(unittest.TestCase):
    def test_half_a_cent_goes_down(self):
        self.assertEqual(discounted(375, 10), 337)
"""
_CONFIG = """# The configuration of `manyhands demo`. Two hosts, and no width for either: the clutch finds both.
[hosts.agents]
type = "agent"
agent = {{ run = [{python}, "-I", {agent}, "{pace:g}"], reads = "claude" }}
kinds = ["code", "fix", "docs"]

[hosts.model]
type = "openai"
url = "http://127.0.0.1:{port}/v1"
model = "stand-in"
kinds = ["text"]
prices = {{ tokens_in = 3.0, tokens_out = 15.0 }}
"""


def write_story(directory: Path, port: int, pace: float) -> Path:
    """A repository with one commit, a configuration and a plan. Returns the plan."""
    package = directory / "shop"
    tests = directory / "tests"
    package.mkdir()
    tests.mkdir()
    for name, (signature, value) in MODULES.items():
        (package / f"{name}.py").write_text(f"def {signature}:\n    return {value}\n")
    (package / "__init__.py").write_text("")
    (package / "discount.py").write_text("def discounted(cents, percent):\n    return cents\n")
    (tests / "__init__.py").write_text("")
    (tests / "test_shop.py").write_text(_TESTS.format(names=[*MODULES, "discount"]))
    (tests / "discount_check.py").write_text(_DISCOUNT_CHECK)
    (directory / "README.md").write_text("# Corner shop\n")
    (directory / ".gitignore").write_text(f"__pycache__/\n/{FILE_NAME}\n/{PLAN}\n/.manyhands/\n")
    _git(directory, "init", "-q", "-b", "main")
    _git(directory, "config", "user.name", "Demo")
    _git(directory, "config", "user.email", "demo@example.org")
    _git(directory, "add", "-A")
    _git(directory, "commit", "-q", "-m", "Begin the corner shop")
    (directory / FILE_NAME).write_text(
        _CONFIG.format(
            python=_quoted(sys.executable), agent=_quoted(str(_PROGRAMS / "stand_in_agent.py")), pace=pace, port=port
        )
    )
    plan = directory / PLAN
    write_plan(plan, story_tasks())
    return plan


def story_tasks() -> list[Task]:
    hints = [_work(f"hints-{name}", "code", f"Add type hints to shop/{name}.py", f"shop/{name}.py") for name in MODULES]
    fix = _work("fix-discount", "fix", "Round discounts down to whole cents in shop/discount.py", "shop/discount.py")
    check = (sys.executable, "-m", "unittest", "-q", "tests.discount_check")
    usage = _work("readme-usage", "docs", "Write how to use the shop into README.md", "README.md")
    install = _work("readme-install", "docs", "Write how to install the shop into README.md", "README.md")
    changes = _work("release", "docs", "Write what changed into CHANGES.md", "CHANGES.md")
    described = [
        Task(f"text-{n:02}", kind="text", prompt=f"Describe step {n} of an order in one sentence.", claims=Claims())
        for n in range(1, _DESCRIBED + 1)
    ]
    needs = tuple(task.id for task in (*hints, fix, usage, install))
    return [
        _but(fix, check=check, priority=1),
        _but(usage, priority=1),
        _but(install, priority=1),
        *hints,
        *described,
        _but(changes, needs=needs),
    ]


def _work(id: str, kind: str, title: str, file: str) -> Task:
    return Task(
        id,
        kind=kind,
        title=title,
        prompt=f"{title}.\n",
        claims=Claims(write=(file,)),
        workspace=WORKTREE,
        check=_CHECK,
        attempts=3,
    )


def _but(task: Task, **fields: object) -> Task:
    return replace(task, **fields)


def _quoted(text: str) -> str:
    return json.dumps(text)  # a TOML string is quoted as JSON's are


def _git(directory: Path, *words: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        subprocess.run(["git", *words], cwd=directory, env=env, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise UsageError(
            "the demo needs git, and there is no program `git` on the PATH",
            "install git, or see `manyhands demo --mix`, which does without it",
        ) from None
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"`git {words[0]}` failed in {directory}: {error.stderr.strip()}", "try it again") from None


@contextlib.contextmanager
def stand_in_model(pace: float) -> Iterator[int]:
    """The server, and the port that it listens at."""
    command = [sys.executable, "-I", str(_PROGRAMS / "stand_in_model.py"), f"{pace:g}"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        port = server.stdout.readline().strip()
        if not port:
            raise Unavailable("the stand-in for a model did not start", "run `manyhands demo` again")
        yield int(port)
    finally:
        server.stdin.close()
        server.stdout.close()
        server.wait()
