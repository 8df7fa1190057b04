"""The command line: nouns, then verbs; the bare noun lists. Only declarations live here, so that `--help` is quick."""

import io
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from manyhands.errors import ManyhandsError
from manyhands.surfaces.cli import (
    eval_commands,
    host_commands,
    route_commands,
    split_commands,
    store_commands,
    task_commands,
    worker_commands,
)
from manyhands.surfaces.cli.options import ConfigOption, HostsOption, OutputOption, StoreOption, UrlOption
from manyhands.surfaces.cli.printing import OutputFormat, ReviewOutput, say

#: What Typer raises for wrong options and arguments. It has no public name there; one of its kinds has.
TyperUsageError: type[Exception] = typer.BadParameter.__mro__[1]
EXIT_CODES = (
    "Exit codes: 0 all done; 1 some task did not end well; 2 wrong usage or input, and nothing was done; "
    "75 stopped, busy or broken for now: try the same command again."
)

app = typer.Typer(
    name="manyhands",
    help="Runs a backlog of AI-agent tasks as wide as your machines can bear, and no wider.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
runs_app = typer.Typer(help="The runs of this store.", rich_markup_mode=None)
plan_app = typer.Typer(
    help="Plan files: check them, or print their schema.", rich_markup_mode=None, no_args_is_help=True
)
config_app = typer.Typer(help="The settings in force, or the schema of manyhands.toml.", rich_markup_mode=None)
backlog_app = typer.Typer(help="Backlogs of Beads.", rich_markup_mode=None, no_args_is_help=True)
memory_app = typer.Typer(help="What earlier runs taught about hosts and kinds.", rich_markup_mode=None)
app.command(short_help="Split a code base into subplans, and make a plan of them.")(split_commands.split)
app.command(short_help="Host several models in one process, over HTTP.")(worker_commands.worker)
app.add_typer(task_commands.app, name="task")
app.add_typer(store_commands.app, name="store")
app.add_typer(runs_app, name="runs")
app.add_typer(host_commands.app, name="host")
app.add_typer(route_commands.app, name="route")
app.add_typer(plan_app, name="plan")
app.add_typer(config_app, name="config")
app.add_typer(memory_app, name="memory")
app.add_typer(backlog_app, name="backlog")
app.add_typer(eval_commands.app, name="eval")


def _exit(code: int) -> None:
    raise typer.Exit(code)


@app.command(short_help="Run 30 mixed tasks on three hosts, live; nothing to configure.")
def demo(
    scale: Annotated[float, typer.Option(help="how long the tasks take: 1.0 is 30/20/40 seconds each")] = 0.1,
    output: OutputOption = OutputFormat.TABLE,
    store: StoreOption = None,
) -> None:
    """Run 30 mixed tasks on three hosts, live, and the same one at a time per kind.

    On a terminal its page stays up until Ctrl-C; with --output json, or without a terminal, it ends by itself.
    """
    from manyhands.surfaces.cli.demo import run_demo

    _exit(run_demo(scale, output, store))


@app.command(short_help="Run a plan to its end, or go on where it was stopped.", epilog=EXIT_CODES)
def run(
    plans: Annotated[list[Path], typer.Argument(metavar="PLAN", help="plan files: .toml, .yaml or .jsonl")],
    concurrency: Annotated[int | None, typer.Option(help="the most attempts at once in this run")] = None,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="cancel what waits once a task has failed")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="a new run, though one of this plan is unfinished")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="show the run on a page too; prints its address")] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Run a plan to its end. Ctrl-C stops starting, twice stops what runs; the same command goes on from there."""
    from manyhands.surfaces.cli.run import run_plans

    _exit(run_plans(plans, concurrency, fail_fast, fresh, output, config, hosts, store, follow))


@app.command(short_help="Watch backlogs and work them off until stopped.", epilog=EXIT_CODES)
def serve(
    beads: Annotated[
        list[Path] | None, typer.Option("--beads", metavar="DIR", help="a project with Beads; may be given again")
    ] = None,
    plan: Annotated[
        list[Path] | None, typer.Option("--plan", metavar="FILE", help="a plan file; may be given again")
    ] = None,
    address: Annotated[
        str, typer.Option(help="where the page and the API are served; beyond 127.0.0.1 all want the token")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="of the page and the API; 0: any")] = 8642,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Watch plans and Beads, those of [[backlogs]] in the config too, and work them off until stopped.

    Ctrl-C or SIGTERM stops what runs; the same command goes on from there.
    """
    from manyhands.surfaces.cli.serve import serve as serve_backlogs

    _exit(serve_backlogs(beads or [], plan or [], address, port, config, hosts, store))


@app.command(short_help="Add tasks, whether a dispatcher runs or not.", epilog=EXIT_CODES)
def add(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="plan files")] = None,
    id: Annotated[str | None, typer.Option(help="of a single task, with what it is to run")] = None,
    run: Annotated[str | None, typer.Option(help="its command, as typed: 'pytest -q'")] = None,
    prompt: Annotated[str | None, typer.Option(help="its prompt")] = None,
    call: Annotated[str | None, typer.Option(help="its function: package.module:function")] = None,
    kind: Annotated[str | None, typer.Option(help="its kind")] = None,
    title: Annotated[str | None, typer.Option(help="its title")] = None,
    priority: Annotated[int | None, typer.Option(help="0 critical … 4 backlog")] = None,
    needs: Annotated[
        list[str] | None, typer.Option(help="a task of the run that comes first; may be given again")
    ] = None,
    timeout: Annotated[str | None, typer.Option(help="20m, 90s …")] = None,
    attempts: Annotated[int | None, typer.Option(help="how often it may be tried")] = None,
    host: Annotated[str | None, typer.Option(help="only on this host")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="RUN", help="the run to add to (default: `added`)")] = None,
    output: OutputOption = OutputFormat.TABLE,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
    url: UrlOption = None,
) -> None:
    """Add tasks: to the dispatcher that runs now, or else to the one that runs next."""
    from manyhands.surfaces.cli.add import add_tasks

    fields: dict[str, Any] = {
        "id": id,
        "run": run,
        "prompt": prompt,
        "call": call,
        "kind": kind,
        "title": title,
        "priority": priority,
    }
    fields |= {"needs": needs, "timeout": timeout, "attempts": attempts, "host": host}
    add_tasks(files or [], fields, to, output, config, hosts, store, url)


@plan_app.command("check", short_help="What is wrong with a plan, or how large, deep and wide it is.")
def plan_check(
    plans: Annotated[list[Path], typer.Argument(metavar="PLAN")],
    hosts: HostsOption = None,
    config: ConfigOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Say everything that is wrong with a plan, or how large, deep and wide it is. Runs nothing."""
    from manyhands.surfaces.cli.plan_check import check_plans

    _exit(check_plans(plans, output, config, hosts))


@plan_app.command("schema")
def plan_schema() -> None:
    """Print the JSON Schema of plan files."""
    from manyhands.surfaces.cli.plan_check import print_schema

    print_schema()


@runs_app.callback(invoke_without_command=True)
def runs(
    context: typer.Context,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the runs of this store."""
    if context.invoked_subcommand is None:
        from manyhands.surfaces.cli.run_listing import list_runs

        list_runs(output, config, store)


@runs_app.command("show")
def runs_show(
    run: Annotated[str | None, typer.Argument(metavar="RUN")] = None,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """One run: its counts, its peaks, and what did not end well."""
    from manyhands.surfaces.cli.run_listing import show_run

    show_run(run, output, config, store)


@app.command(short_help="What happened in a run: goal, outcome, next steps, decisions, open questions.")
def review(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="the newest if left out")] = None,
    output: Annotated[ReviewOutput, typer.Option("--output", "-o", help="to read, for programs, or one page")] = (
        ReviewOutput.MARKDOWN
    ),
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Tell a run's story from its journal: goal, outcome, next steps, key decisions, open questions."""
    from manyhands.surfaces.cli.review import review_run

    review_run(run, output, config, store)


@app.command()
def lane(
    output: OutputOption = OutputFormat.TABLE,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the lanes: the attempts of one kind on one host."""
    from manyhands.surfaces.cli.host_listing import list_lanes

    list_lanes(output, config, hosts, store)


@backlog_app.command("ready")
def backlog_ready(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="a project, its .beads directory, or the file")
    ] = Path(),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Print what may run now; epics are left out."""
    from manyhands.surfaces.cli.backlog_listing import print_ready

    print_ready(directory, output)


@memory_app.callback(invoke_without_command=True)
def memory(
    context: typer.Context,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """What is remembered of each kind on each host: success, durations, good widths."""
    if context.invoked_subcommand is None:
        from manyhands.surfaces.cli.memory_listing import list_memory

        list_memory(output, config, store)


@memory_app.command("forget")
def memory_forget(
    host: Annotated[str | None, typer.Option(help="of this host")] = None,
    kind: Annotated[str | None, typer.Option(help="of this kind")] = None,
    everything: Annotated[bool, typer.Option("--all", help="all of it")] = False,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Forget what was learned; the next run starts afresh there."""
    from manyhands.surfaces.cli.memory_listing import forget

    forget(host, kind, everything, config, store)


@app.command(short_help="What would happen to this backlog on these hosts?")
def sim(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="a .toml file; see examples/two-hosts.toml")],
    tasks: Annotated[int | None, typer.Option(min=1, help="so many instead of those in the file")] = None,
    journal: Annotated[Path | None, typer.Option(help="write the journal here, for every other command")] = None,
    page: Annotated[Path | None, typer.Option(help="write the run here as a page to replay, one .html file")] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """What would happen to this backlog on these hosts? The same core under virtual time."""
    from manyhands.surfaces.cli.sim import simulate

    _exit(simulate(scenario, tasks, journal, page, output))


@app.command(short_help="Measure the width a host can bear, with real tasks.", epilog=EXIT_CODES)
def tune(
    host: Annotated[str, typer.Argument(metavar="HOST")],
    plans: Annotated[
        list[Path],
        typer.Argument(metavar="PLAN", help="its tasks that HOST takes are run over and over: harmless ones, please"),
    ],
    up_to: Annotated[int, typer.Option(min=1, help="the widest to try")] = 64,
    write: Annotated[bool, typer.Option("--write", help="put the width found into manyhands.toml")] = False,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Measure the width a host can bear: ever wider with real tasks, until an overload or until it pays no more.

    Ctrl-C ends it with what is known by then.
    """
    from manyhands.surfaces.cli.tune import tune_host

    _exit(tune_host(host, plans, up_to, write, output, config, hosts))


@app.command(short_help="The same verbs for agents, over the Model Context Protocol.")
def mcp(
    read_only: Annotated[bool, typer.Option("--read-only", help="offer nothing that changes anything")] = False,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Serve the verbs of this store to an agent on stdin and stdout, until the client that started it goes away."""
    from manyhands.surfaces.cli.mcp import serve_agents

    serve_agents(read_only, config, hosts, store)


@config_app.callback(invoke_without_command=True)
def show_config(
    context: typer.Context,
    output: OutputOption = OutputFormat.TABLE,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List every setting in force, and where it comes from."""
    if context.invoked_subcommand is None:
        from manyhands.surfaces.cli.config import print_config

        print_config(output, config, hosts, store)


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON Schema of manyhands.toml."""
    from manyhands.surfaces.cli.config import print_schema

    print_schema()


@app.callback(invoke_without_command=True)
def version(
    version: Annotated[bool, typer.Option("--version", help="print the version and exit")] = False,
) -> None:
    if version:
        from manyhands import __version__

        print(f"manyhands {__version__}")
        raise typer.Exit


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without `·` gets `?`, not a traceback
            stream.reconfigure(errors="replace")
    try:
        code = app(standalone_mode=False, prog_name="manyhands")
    except ManyhandsError as error:
        _fail(error.message, error.hint, error.exit_code)
    except TyperUsageError as error:
        _fail_usage(error)
    else:
        sys.exit(code or 0)


def _fail_usage(error: Any) -> NoReturn:
    """Typer's own errors, in the form of ours."""
    message = error.format_message().removesuffix(".").replace("Value error, ", "")
    command = error.ctx.command_path if error.ctx else "manyhands"
    if not message.strip() or "\n" in message:  # a noun without a verb: its help is the answer
        _write_help(error)
    _fail(message[:1].lower() + message[1:], f"`{command} --help` says what it takes", error.exit_code)


def _write_help(error: Any) -> NoReturn:
    error.show()
    sys.exit(error.exit_code)


def _fail(message: str, hint: str, code: int) -> NoReturn:
    say(f"error: {message}")
    if hint:
        say(f"hint: {hint}")
    sys.exit(code)
