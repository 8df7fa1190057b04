"""The check that fits a project: how its tests run, by its files. A command is named only if its program is there."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

_TEST_CASE = "TestCase"
_NO_TEST = "no test specified"
_TARGET = re.compile(r"^test\s*:", re.MULTILINE)
#: The programs that install what a Node project needs, by the file that pins it.
_NODE = {
    "pnpm-lock.yaml": "pnpm install --silent --frozen-lockfile && pnpm test",
    "yarn.lock": "yarn install --silent && yarn test",
    "bun.lock": "bun install --silent && bun test",
    "package-lock.json": "npm ci --silent && npm test",
}


def check_for(directory: Path) -> tuple[str, ...]:
    """The command, which also works in a fresh checkout; () if the project has no tests that we know."""
    for find in _WAYS:
        command = find(directory)
        program = command[2].split()[0] if command[:2] == ("sh", "-c") else command[0] if command else ""
        if program and (shutil.which(program) or (directory / program).is_file()):
            return command
    return ()


def lacking_for(directory: Path) -> str:
    """What must be installed before the tests that are there can be a check; "" if that is not the reason."""
    if check_for(directory) or not _python_tests(directory):
        return ""
    return "the tests need pytest, which is not installed here: `uv tool install pytest`, or put it into `.venv`"


def _make(directory: Path) -> tuple[str, ...]:
    files = [directory / name for name in ("GNUmakefile", "makefile", "Makefile")]
    has_target = any(_TARGET.search(_text(file)) for file in files if file.is_file())
    return ("make", "test") if has_target else ()


def _python(directory: Path) -> tuple[str, ...]:
    tests = _python_tests(directory)
    if not tests:
        return ()
    if (directory / "uv.lock").is_file() and shutil.which("uv"):
        return ("uv", "run", "pytest", "-q")
    # In full: a worktree has the files of git, and a virtual environment is not one of them.
    for place in (".venv", "venv"):
        if (program := directory / place / "bin" / "pytest").is_file():
            return (str(program.absolute()), "-q")
    if shutil.which("pytest"):
        return ("pytest", "-q")
    return _unittest(directory, tests)


def _python_tests(directory: Path) -> list[Path]:
    return [*directory.glob("test_*.py"), *directory.glob("tests/**/test_*.py"), *directory.glob("test/**/test_*.py")]


def _unittest(directory: Path, tests: list[Path]) -> tuple[str, ...]:
    """Only what is written for it: of other tests it runs none, and before Python 3.12 it calls that a success."""
    folders = sorted({_start_of(directory, test) for test in tests if _TEST_CASE in _text(test)})
    runs = [("python3", "-m", "unittest", "discover", "-q", "-s", folder) for folder in folders]
    return runs[0] if len(runs) == 1 else ("sh", "-c", " && ".join(map(shlex.join, runs))) if runs else ()


def _start_of(directory: Path, test: Path) -> str:
    """Where `unittest` must begin to find this test: it goes down into packages alone."""
    start = test.parent
    while start != directory and (start / "__init__.py").is_file():
        start = start.parent
    return str(start.relative_to(directory))


def _node(directory: Path) -> tuple[str, ...]:
    try:
        script = json.loads(_text(directory / "package.json"))["scripts"]["test"]
    except (ValueError, KeyError, TypeError):
        return ()
    if not isinstance(script, str) or _NO_TEST in script:
        return ()
    pinned = next((line for file, line in _NODE.items() if (directory / file).is_file()), "")
    return ("sh", "-c", pinned) if pinned else ("npm", "test", "--silent")


def _by_file(name: str, *command: str) -> Callable[[Path], tuple[str, ...]]:
    return lambda directory: command if (directory / name).is_file() else ()


_WAYS: tuple[Callable[[Path], tuple[str, ...]], ...] = (
    _make,
    _python,
    _node,
    _by_file("Cargo.toml", "cargo", "test", "--quiet"),
    _by_file("go.mod", "go", "test", "./..."),
    _by_file("gradlew", "./gradlew", "--quiet", "test"),
    _by_file("pom.xml", "mvn", "--quiet", "test"),
    _by_file("mix.exs", "mix", "test"),
    _by_file("Gemfile", "bundle", "exec", "rake", "test"),
)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
