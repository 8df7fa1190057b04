"""`manyhands eval`: its declarations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.eval_options import EvalArgument, EvalRunOptions, InjectOptions, ReportOption, ReportOutput
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.settings import Settings

SpecArgument = Annotated[Path, Argument("SPEC", help="A .toml or .yaml file; see examples/eval.")]

noun = Noun(text="Compare agents or prompts: arms × cases × replications. `manyhands eval SPEC` runs an eval.")


@noun.verb("run", assumed=True)
def eval_run(
    spec: SpecArgument,
    options: EvalRunOptions,
    settings: Settings,
    output: ReportOption = ReportOutput.TABLE,
) -> int:
    """Run an eval to its end, or continue where it was stopped; then report what differs.

    Every arm runs on every case, as often as the spec says, and the arms take turns. Press Ctrl-C once: nothing new
    starts, and running sessions finish. Press it again to stop them too. The same command continues from there.
    """
    from manyhands.surfaces.cli.eval import run_eval

    return run_eval(spec, options, output, settings)


@noun.verb("check")
def eval_check(spec: SpecArgument, settings: Settings) -> None:
    """Say everything that is wrong with a spec, or how much there is to run. This runs nothing."""
    from manyhands.surfaces.cli.eval import check_eval

    check_eval(spec, settings)


@noun.verb("schema")
def eval_schema() -> None:
    """Print the JSON Schema of specs."""
    from manyhands.apps.evals.spec.spec_schema import spec_schema
    from manyhands.surfaces.cli.printing import print_json

    print_json(spec_schema())


@noun.verb("status")
def eval_status(
    settings: Settings,
    eval: EvalArgument = None,
    watch: Annotated[bool, Option("--watch", help="Print it every second until the eval is finished.")] = False,
) -> None:
    """Show how far an eval is, arm by arm."""
    from manyhands.surfaces.cli.eval_control import show_status

    show_status(eval, watch, settings)


@noun.verb("pause")
def eval_pause(settings: Settings, eval: EvalArgument = None) -> None:
    """Start nothing more in a running eval. Running sessions finish."""
    from manyhands.surfaces.cli.eval_control import pause_eval

    pause_eval(eval, settings)


@noun.verb("resume")
def eval_resume(settings: Settings, eval: EvalArgument = None) -> None:
    """Let a paused eval continue."""
    from manyhands.surfaces.cli.eval_control import resume_eval

    resume_eval(eval, settings)


@noun.verb("abort")
def eval_abort(settings: Settings, eval: EvalArgument = None) -> None:
    """End an eval: running sessions are stopped, and finished trials are kept and reported."""
    from manyhands.surfaces.cli.eval_control import abort_eval

    abort_eval(eval, settings)


@noun.verb("inject")
def eval_inject(options: InjectOptions, settings: Settings, eval: EvalArgument = None) -> None:
    """Add text to trials of a running eval. They become tainted, and no figure counts them."""
    from manyhands.surfaces.cli.eval_control import inject_context

    inject_context(eval, options, settings)


@noun.verb("report")
def eval_report(
    settings: Settings,
    eval: EvalArgument = None,
    output: ReportOption = ReportOutput.TABLE,
    sequential: Annotated[
        bool, Option("--sequential", help="Add confidence sequences, which stay valid however often you look.")
    ] = False,
) -> None:
    """Report on an eval again, from its stored results."""
    from manyhands.surfaces.cli.eval_report import report_eval

    report_eval(eval, output, sequential, settings)


@noun.verb("export")
def eval_export(
    to: Annotated[Path, Option("--to", metavar="DIR", help="The directory for the logs, one for each arm.")],
    settings: Settings,
    eval: EvalArgument = None,
) -> None:
    """Write an eval as logs that Inspect AI can read and show."""
    from manyhands.surfaces.cli.eval_report import export_eval

    export_eval(eval, to, settings)


@noun.verb("import")
def eval_import(
    files: Annotated[Sequence[Path], Argument("FILE", help="A log of Inspect AI, or results of promptfoo.")],
    baseline: Annotated[
        str, Option(metavar="ARM", help="Compare the other arms with this one. The default is the first arm.")
    ] = "",
    output: ReportOption = ReportOutput.TABLE,
) -> None:
    """Compare results of other tools with the same figures. Nothing is stored."""
    from manyhands.surfaces.cli.eval_report import import_results

    import_results(files, baseline, output)
