"""The hosts of an eval: those of the config, each at a fixed width, and some that only score."""

import math
from collections.abc import Sequence

import msgspec

from manyhands.apps.evals.scoring.scoring_tasks import KIND, PYTHON_HOST, SHELL_HOST, judge_host
from manyhands.apps.evals.spec.eval_types import Spec
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.spec.spec_file import ReadSpec, SpecRefused
from manyhands.apps.evals.trial.eval_layout import EvalLayout
from manyhands.apps.evals.trial.trials import Sessions
from manyhands.core.placement import takes
from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import Task, form_of
from manyhands.errors import UsageError
from manyhands.readers.problems import did_you_mean
from manyhands.sources.config.config_types import Config, HostConfig, OpenaiHost, PythonHost, ShellHost
from manyhands.sources.plans.gathering import Places
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_reading import Plan
from manyhands.sources.plans.plan_settings import PlanSettings

#: `--concurrency auto` looks no further: nobody supervises more sessions than this on one machine.
AUTO_MAX = 64


def check_against(read: ReadSpec, config: Config) -> None:
    """Raises `SpecRefused` unless there is a host for every arm and a judge for every pairwise scorer."""
    problems = read.sheet.problems
    places = Places()
    places.begin(read.sheet.file)
    for place, arm in enumerate(read.spec.arms):
        if not arm.same_as:
            places.add(read.sheet.line_of(("arm", place)))
    plan = Plan(_sample_tasks(read.spec, config), PlanSettings(), read.sheet.file, places)
    for problem in check_hosts(plan, config.core_hosts()):
        problems.add(problem)
    judges = [host.name for host in config.hosts if isinstance(host, OpenaiHost) and host.api == "chat"]
    for place, scorer in enumerate(read.spec.scorers):
        if scorer.type == "pairwise" and scorer.host not in judges:
            hint = did_you_mean(scorer.host, judges) or f"the openai hosts are {', '.join(judges) or 'none'}"
            rule = 'must be an openai host of the config with `api = "chat"`'
            read.sheet.wrong(("scorer", place, "host"), scorer.host, rule, hint)
    if problems.total:
        raise SpecRefused(problems.by_line(), problems.total)


def _sample_tasks(spec: Spec, config: Config) -> list[Task]:
    """One task for each arm of the file, with the arm's name as its id."""
    sessions = Sessions(spec, EvalLayout(config.store_directory, spec.name))
    arms = [arm for arm in spec.arms if not arm.same_as]
    return [
        msgspec.structs.replace(sessions.task(Trial(arm.name, spec.cases[0].name, 1), 1), id=arm.name) for arm in arms
    ]


def widest(spec: Spec, config: Config) -> float:
    """The most sessions that the hosts of all arms accept at once; infinite if the config sets no bound."""
    hosts = {host.name: host for task in _sample_tasks(spec, config) for host in _able(task, config.core_hosts())}
    return sum(math.inf if host.width.max is None else host.width.max for host in hosts.values())


def narrow_arms(spec: Spec, config: Config, at_once: int) -> list[str]:
    """Arms whose hosts accept fewer sessions than may be in flight, so that sessions may wait for a place."""
    narrow = []
    for task in _sample_tasks(spec, config):
        bounds = [host.width.max for host in _able(task, config.core_hosts())]
        if sum(math.inf if bound is None else bound for bound in bounds) < at_once:
            narrow.append(task.id)
    return narrow


def _able(task: Task, hosts: Sequence[Host]) -> list[Host]:
    return [host for host in hosts if takes(host, task.kind, form_of(task), task.host)]


def check_width(spec: Spec, config: Config, at_once: int) -> None:
    most = widest(spec, config)
    if at_once > most:
        raise UsageError(
            f"concurrency {at_once} is more than the hosts of the arms accept at once ({most:g})",
            "raise the `width` of a host in the config, or lower the concurrency",
        )


def eval_config(config: Config, spec: Spec, at_most: int) -> Config:
    """Widths are fixed while arms are compared: how many sessions run at once is part of what is measured."""
    hosts: list[HostConfig] = [_pinned(host, at_most) for host in config.hosts]
    width = Width(at_most, at_most, at_most)
    hosts.append(ShellHost(name=SHELL_HOST, kinds=(KIND,), width=width))
    hosts.append(PythonHost(name=PYTHON_HOST, kinds=(KIND,), width=width))
    judges = dict.fromkeys(scorer.host for scorer in spec.scorers if scorer.type == "pairwise")
    for host in config.hosts:
        if host.name in judges:
            hosts.append(msgspec.structs.replace(host, name=judge_host(host.name), kinds=(KIND,), width=width))
    return msgspec.structs.replace(config, hosts=tuple(hosts))


def _pinned(host: HostConfig, at_most: int) -> HostConfig:
    width = at_most if host.width.max is None else min(at_most, host.width.max)
    return msgspec.structs.replace(host, width=Width(width, width, width))
