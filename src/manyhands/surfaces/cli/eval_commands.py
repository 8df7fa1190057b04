"""`manyhands eval`: its declarations. The bodies are in `eval.py` and `eval_control.py`, loaded when wanted."""

import enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from manyhands.surfaces.cli import eval_report_commands
from manyhands.surfaces.cli.options import ConfigOption, HostsOption, StoreOption


class SpecFirst(TyperGroup):
    """`manyhands eval SPEC` is `manyhands eval run SPEC`: what is no verb is a spec."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


class ReportOutput(enum.StrEnum):
    TABLE = "table"
    JSON = "json"
    HTML = "html"


app = typer.Typer(
    cls=SpecFirst,
    help="Compare agents or prompts: arms × cases × replications. `manyhands eval SPEC` runs one.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

EvalArgument = Annotated[str | None, typer.Argument(metavar="EVAL", help="its id; left out: the newest")]


@app.command("run", short_help="Run an eval to its end, or go on where it was stopped: `manyhands eval SPEC`.")
def eval_run(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="a .toml or .yaml file; see examples/eval")],
    concurrency: Annotated[
        str | None, typer.Option(help="the most sessions at once, or `auto` to find out (default: the spec's, or 1)")
    ] = None,
    no_interleave: Annotated[
        bool, typer.Option("--no-interleave", help="one arm after the other; the report says what that costs")
    ] = False,
    stop_when_decided: Annotated[
        bool, typer.Option("--stop-when-decided", help="case by case, and no more once every comparison is decided")
    ] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="start nothing more once a session has failed; what finished is kept")
    ] = False,
    allow_tampering: Annotated[
        bool, typer.Option("--allow-tampering", help="allow `eval inject`, which taints the trials it reaches")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="a new eval, though one of this spec is unfinished")] = False,
    output: Annotated[
        ReportOutput, typer.Option("--output", "-o", help="table for people, json, or a page of its own")
    ] = ReportOutput.TABLE,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Run every arm on every case, as often as the spec says, arms taking turns; then report what differs.

    Ctrl-C stops starting, twice stops what runs; the same command goes on from there.
    """
    from manyhands.apps.evals.evaluation import Wishes
    from manyhands.surfaces.cli.eval import run_eval

    wishes = Wishes(_concurrency(concurrency), fail_fast, fresh, allow_tampering)  # type: ignore[arg-type]
    raise typer.Exit(run_eval(spec, wishes, not no_interleave, stop_when_decided, output, config, hosts, store))


def _concurrency(text: str | None) -> int | str | None:
    from manyhands.errors import UsageError

    if text is None or text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"`--concurrency` must be at least 1, or auto, got {text}", "leave it out for 1")
    return int(text)


@app.command("check")
def eval_check(
    spec: Annotated[Path, typer.Argument(metavar="SPEC")],
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Say everything that is wrong with a spec, or how much there is to run. Runs nothing."""
    from manyhands.surfaces.cli.eval import check_eval

    check_eval(spec, config, hosts, store)


@app.command("schema")
def eval_schema() -> None:
    """Print the JSON Schema of specs."""
    from manyhands.apps.evals.spec.spec_schema import spec_schema
    from manyhands.surfaces.cli.printing import print_json

    print_json(spec_schema())


@app.command("status")
def eval_status(
    eval: EvalArgument = None,
    watch: Annotated[bool, typer.Option("--watch", help="until it is over")] = False,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Where an eval stands, arm by arm."""
    from manyhands.surfaces.cli.eval_control import show_status

    show_status(eval, watch, config, store)


@app.command("pause")
def eval_pause(eval: EvalArgument = None, config: ConfigOption = None, store: StoreOption = None) -> None:
    """Start nothing more in an eval that runs; what is in flight settles."""
    from manyhands.surfaces.cli.eval_control import pause_eval

    pause_eval(eval, config, store)


@app.command("resume")
def eval_resume(eval: EvalArgument = None, config: ConfigOption = None, store: StoreOption = None) -> None:
    """Let a paused eval go on."""
    from manyhands.surfaces.cli.eval_control import resume_eval

    resume_eval(eval, config, store)


@app.command("abort")
def eval_abort(eval: EvalArgument = None, config: ConfigOption = None, store: StoreOption = None) -> None:
    """End an eval: what runs is stopped, what finished is kept and reported."""
    from manyhands.surfaces.cli.eval_control import abort_eval

    abort_eval(eval, config, store)


@app.command("inject")
def eval_inject(
    text: Annotated[str, typer.Option("--text", help="put after the prompt of every session that has not begun")],
    eval: EvalArgument = None,
    arm: Annotated[str, typer.Option(help="of this arm only")] = "",
    case: Annotated[str, typer.Option(help="of this case only")] = "",
    replication: Annotated[int, typer.Option(min=0, help="of this replication only")] = 0,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Put context into trials that run; they are tainted, and no figure counts them."""
    from manyhands.surfaces.cli.eval_control import inject_context

    inject_context(eval, text, arm, case, replication, config, store)


# At the end: it takes what is declared above.
eval_report_commands.add_to(app)
