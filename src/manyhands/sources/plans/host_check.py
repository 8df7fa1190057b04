"""Is there a host for every task of a plan, and the family it names?"""

from collections.abc import Sequence

from manyhands.core.outbox import is_allowed
from manyhands.core.placement import takes
from manyhands.core.values.host import Family, Host, Route
from manyhands.core.values.task import form_of
from manyhands.readers.problems import Problem, did_you_mean, value_text
from manyhands.sources.plans.plan_reading import Plan

_TYPE_OF_FORM = {"run": "shell", "call": "python", "prompt": "openai", "agent": "agent"}
_Wants = tuple[str, str, str, tuple[tuple[str, float], ...]]


def check_hosts(
    plan: Plan, hosts: Sequence[Host], families: Sequence[Family] = (), routes: Sequence[Route] = ()
) -> list[Problem]:
    """One problem for all tasks that want the same and cannot have it, at the first of them."""
    first: dict[_Wants, int] = {}
    count: dict[_Wants, int] = {}
    host_of = {family.name: family.host for family in families}
    for number, task in enumerate(plan.tasks):
        resources = tuple(sorted(task.resources.items())) if task.resources else ()
        wants = (form_of(task), task.kind, host_of.get(task.family, task.host), resources)
        first.setdefault(wants, number)
        count[wants] = count.get(wants, 0) + 1
    problems = [*_check_families(plan, families, hosts), *_check_replies(plan, routes)]
    for wants, number in first.items():
        if found := _unmet(wants, hosts):
            field, value, message, hint = found
            file, line = plan.places.of(number)
            others = f" (and {count[wants] - 1:,} more like it)" if count[wants] > 1 else ""
            message = f"no host can take task `{plan.tasks[number].id}`{others}: {message}"
            problem = Problem(file=file, line=line, field=field, value=value_text(value), message=message, hint=hint)
            problems.append(problem)
    return problems


def _check_families(plan: Plan, families: Sequence[Family], hosts: Sequence[Host]) -> list[Problem]:
    by_name = {family.name: family for family in families}
    takes_commands = [host.name for host in hosts if "run" in host.takes]
    problems: list[Problem] = []
    for number, task in enumerate(plan.tasks):
        if not task.family:
            continue
        family = by_name.get(task.family)
        if family is None:
            hint = did_you_mean(task.family, by_name) or f"write [families.{task.family}] in manyhands.toml"
            message = f"task `{task.id}` belongs to no family of the config"
        elif task.host and task.host != family.host:
            hint = "leave out its `host`, or take it out of the family"
            message = f"task `{task.id}` wants host `{task.host}`, its family is done on `{family.host}`"
        elif task.workspace:
            hint = "leave out its `workspace`, or take it out of the family and have a member need it"
            message = f"task `{task.id}` has a worktree, and would land before its family was verified"
        elif family.host not in takes_commands:
            hint = f"one of {', '.join(takes_commands) or 'none'} does"
            message = f"family `{family.name}` is made of commands, which host `{family.host}` does not take"
        else:
            continue
        file, line = plan.places.of(number)
        problems.append(Problem(file=file, line=line, field="family", value=task.family, message=message, hint=hint))
    return problems


def _check_replies(plan: Plan, routes: Sequence[Route]) -> list[Problem]:
    """Nothing leaves that the config did not allow: a `reply_to` it does not know is refused, never ignored."""
    by_app = {route.app: route for route in routes}
    problems: list[Problem] = []
    for number, task in enumerate(plan.tasks):
        if not task.reply_to:
            continue
        route = by_app.get(task.app) if task.app else None
        if route is not None and is_allowed(route, task.reply_to):
            continue
        if not task.app:
            why, hint = "it names no `app`", "results are routed per app: give the task one"
        elif route is None:
            why, hint = (
                f"app `{task.app}` has no route",
                f"write [routes.{task.app}] in manyhands.toml with a `reply_to`",
            )
        else:
            allowed = " or ".join(route.reply_to) or "nothing"
            why = f"the route of app `{task.app}` allows {allowed}"
            hint = f"add the beginning of its URL to `reply_to` of [routes.{task.app}]"
        file, line = plan.places.of(number)
        message = f"the `reply_to` of task `{task.id}` is not allowed: {why}"
        problem = Problem(file=file, line=line, field="reply_to", value=task.reply_to, message=message, hint=hint)
        problems.append(problem)
    return problems


def _unmet(wants: _Wants, hosts: Sequence[Host]) -> tuple[str, object, str, str] | None:
    """(field, value, why, hint) of what no host offers."""
    form, kind, name, resources = wants
    names = [host.name for host in hosts]
    if name:
        hosts = [host for host in hosts if host.name == name]
        if not hosts:
            hint = did_you_mean(name, names) or f"the hosts are {', '.join(names) or 'none'}"
            return "host", name, f"there is no host `{name}`", hint
    able = [host for host in hosts if takes(host, kind, form)]
    if able:
        return _short_of(dict(resources), able)
    if not any(form in host.takes for host in hosts):
        hint = f'add a host with `type = "{_TYPE_OF_FORM[form]}"`'
        which = f"host `{name}` does not take" if name else "none takes"
        what = "a `prompt` in a worktree" if form == "agent" else f"`{form}`"
        return "prompt" if form == "agent" else form, form, f"{which} tasks with {what}", hint
    which = f"host `{name}` does not take" if name else f"none that takes `{form}` takes"
    hint = f'add "{kind}" to the `kinds` of a host, or give the task another kind'
    return "kind", kind, f"{which} kind `{kind}`", hint


def _short_of(resources: dict[str, float], hosts: Sequence[Host]) -> tuple[str, object, str, str] | None:
    def has(host: Host, resource: str, amount: float) -> bool:
        return host.resources.get(resource, 0.0) >= amount

    if any(all(has(host, resource, amount) for resource, amount in resources.items()) for host in hosts):
        return None
    for resource, amount in resources.items():
        if not any(has(host, resource, amount) for host in hosts):
            most = max(hosts, key=lambda host: host.resources.get(resource, 0.0))
            there = f"the most is {most.resources.get(resource, 0.0):g} on `{most.name}`"
            hint = f"ask for less, or raise `resources.{resource}` of a host"
            return f"resources.{resource}", amount, f"it asks for {amount:g} of `{resource}`; {there}", hint
    asked = ", ".join(f"{amount:g} of `{resource}`" for resource, amount in resources.items())
    return "resources", resources, f"no single host has {asked}", "ask for less"
