"""`--help` is there at once, for every command, and says what the exit codes mean."""

import json
import resource
import subprocess
import sys

import pytest

from surfaces.cli.console import Console, argv

HEAVY = ("rich", "openai", "httpx", "yaml", "sqlite3", "asyncio", "psutil", "pydantic", "msgspec", "pynvml", "mcp")
COMMANDS = (
    ("demo",),
    ("run",),
    ("task",),
    ("task", "show"),
    ("task", "explain"),
    ("task", "cancel"),
    ("task", "retry"),
    ("task", "log"),
    ("runs",),
    ("runs", "show"),
    ("plan", "check"),
    ("plan", "schema"),
    ("host",),
    ("lane",),
    ("config",),
    ("config", "schema"),
    ("serve",),
    ("add",),
    ("mcp",),
)


def cpu_s(*command: str) -> float:
    """CPU time: wall time would measure the other tests."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_costs_no_more_than_a_few_bare_interpreters() -> None:
    """In turns, because others slow down the one and the other; what it costs by itself is the least of it."""
    enough, bare_starts = 12, float("inf")  # 0.25 s are some fifteen here
    for _ in range(20):
        bare_starts = min(bare_starts, cpu_s(*argv(["--help"])) / cpu_s(sys.executable, "-c", "pass"))
        if bare_starts <= enough:
            break
    assert 1 < bare_starts <= enough


def test_help_loads_no_heavy_module() -> None:
    script = (
        "import json, sys\n"
        "from manyhands.surfaces.cli.main import app\n"
        "app(['--help'], standalone_mode=False)\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Usage: " in done.stdout
    assert json.loads(done.stderr) == []


def test_the_exit_codes_are_in_the_help(console: Console) -> None:
    for command in ((), ("run",)):
        text = " ".join(console.run(*command, "--help").out.split())
        assert "0 all done; 1 some task did not end well; 2 wrong usage or input" in text
        assert "75 stopped, busy or broken for now: try the same command again" in text


def test_every_command_has_help_that_is_one_whole_sentence_in_the_list(console: Console) -> None:
    script = (
        "import sys\n"
        "from manyhands.surfaces.cli.main import app\n"
        f"for command in {COMMANDS!r}:\n"
        "    assert app([*command, '--help'], standalone_mode=False) in (0, None), command\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: ") == len(COMMANDS)
    assert "..." not in console.run("--help").out.split("Commands:")[1]


@pytest.mark.parametrize("noun", [(), ("plan",)])
def test_a_noun_that_lists_nothing_shows_its_help_and_exits_2(console: Console, noun: tuple[str, ...]) -> None:
    done = console.run(*noun)
    assert (done.code, done.out) == (2, "")
    assert "Usage: manyhands" in done.err
