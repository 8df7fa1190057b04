"""`manyhands do`: a sentence becomes a plan in the store, and the plan is run like any other."""

import re
import shlex
from pathlib import Path
from zlib import crc32

from manyhands.apps.setup.check_finding import check_for
from manyhands.apps.setup.machine_look import has_commits
from manyhands.core.placement import takes
from manyhands.core.values.about import RunAbout
from manyhands.core.values.task import WORKTREE, Claims, Task
from manyhands.errors import UsageError
from manyhands.sources.config.config_types import Config
from manyhands.sources.split.directory_source import read_directory
from manyhands.sources.split.leaf_tasks import DEFAULT_TEMPLATE, epics_of, tasks_of
from manyhands.sources.split.outside_tests import imported_by_tests
from manyhands.sources.split.plan_file import write_plan
from manyhands.sources.split.split_types import SplitSettings
from manyhands.sources.split.splitting import split
from manyhands.store_directory import make_store_directory
from manyhands.surfaces.cli.do_options import DoOptions
from manyhands.surfaces.cli.printing import OutputFormat, say
from manyhands.surfaces.cli.run import run_plans
from manyhands.surfaces.cli.run_options import RunOptions
from manyhands.surfaces.cli.settings import Settings

#: The plans of sentences, in the store.
PLANS = "do"
_WORDS_MAX = 6


def carry_out(sentence: str, options: DoOptions, output: OutputFormat, settings: Settings) -> int:
    if not sentence.strip():
        raise UsageError("the sentence is empty", 'for example `manyhands do "Add type hints to src/"`')
    config = settings.load()
    _check_taken(options.kind, config)
    file = config.store_directory / PLANS / f"{_stem(sentence, options.split)}.toml"
    # A split that was begun continues as it was: the parts of a code base that has changed since would be others.
    if not (options.split and file.exists() and not options.again):
        tasks, about = _tasks(sentence.strip(), options, config)
        make_store_directory(config.store_directory)
        file.parent.mkdir(exist_ok=True)
        write_plan(file, tasks, about)
        check = shlex.join(tasks[0].check) or "none"
        say(f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}, check: {check}; the plan is `{file}`")
    return run_plans([file], RunOptions(again=options.again, dry_run=options.dry_run), output, settings)


def _tasks(sentence: str, options: DoOptions, config: Config) -> tuple[list[Task], RunAbout]:
    check = tuple(shlex.split(options.check)) if options.check is not None else check_for(config.workspace)
    in_git = has_commits(config.workspace)
    like = Task(
        "do",
        kind=options.kind,
        title=sentence[:200],
        prompt=sentence,
        check=check,
        workspace=WORKTREE if in_git else "",
        claims=None if in_git else Claims(write=("**",)),
    )
    if not options.split:
        return [like], RunAbout()
    code = read_directory(config.workspace, include=_named(sentence, config.workspace), told=say)
    tree = split(code.source, SplitSettings(), code.read, code.notes)
    about = RunAbout(goal=sentence, epics=epics_of(tree, code.source))
    tests = imported_by_tests(config.workspace, code.source.paths)
    return tasks_of(tree, code.source, DEFAULT_TEMPLATE, like, goal=sentence, tests_outside=tests), about


def _named(sentence: str, workspace: Path) -> list[str]:
    """The paths that the sentence names, as patterns; none if it names no path that exists."""
    words = (word.strip(".,;:!?\"'`()").rstrip("/") for word in sentence.split())
    named = [word for word in words if word and not word.startswith(("/", "..")) and (workspace / word).exists()]
    return [f"/{word}" for word in dict.fromkeys(named)]


def _check_taken(kind: str, config: Config) -> None:
    if not any(takes(host, kind, "agent") for host in config.core_hosts()):
        raise UsageError(
            f"no host here can carry out a sentence: none is an agent that takes kind `{kind}`",
            _how_to_add(kind, config),
        )


def _how_to_add(kind: str, config: Config) -> str:
    """`init` writes a first config, and changes none."""
    if config.file is None:
        return "`manyhands init` looks for agents and writes a host for each"
    lines = ["[hosts.claude]", 'type = "agent"', 'agent = "claude"', f'kinds = ["{kind}*"]']
    return f"add these lines to `{config.file}`, with the agent that you have:\n" + "\n".join(lines)


def _stem(sentence: str, split: bool) -> str:
    """A name for people that no other sentence has: `add-type-hints-to-src-1f3a`."""
    words = re.findall(r"[a-z0-9]+", sentence.lower())[:_WORDS_MAX]
    return "-".join([*words, *(["split"] if split else []), f"{crc32(sentence.strip().encode()) & 0xFFFF:04x}"])
