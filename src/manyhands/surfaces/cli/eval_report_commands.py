"""`manyhands eval report|export|import`: their declarations. The bodies are in `eval_report.py`, loaded when wanted."""

from pathlib import Path
from typing import Annotated

import typer

from manyhands.surfaces.cli.options import ConfigOption, StoreOption


def add_to(app: typer.Typer) -> None:
    # The group imports this module: what is shared is imported here, so that either may come first.
    from manyhands.surfaces.cli.eval_commands import EvalArgument, ReportOutput

    output_option = typer.Option("--output", "-o", help="table for people, json, or html: one page of its own")

    @app.command("report")
    def eval_report(
        eval: EvalArgument = None,
        output: Annotated[ReportOutput, output_option] = ReportOutput.TABLE,
        sequential: Annotated[
            bool, typer.Option("--sequential", help="add confidence sequences, which hold at every look")
        ] = False,
        config: ConfigOption = None,
        store: StoreOption = None,
    ) -> None:
        """Report on an eval again, from what is kept of it."""
        from manyhands.surfaces.cli.eval_report import report_eval

        report_eval(eval, output, sequential, config, store)

    @app.command("export")
    def eval_export(
        to: Annotated[Path, typer.Option("--to", help="the directory for the logs, one for each arm")],
        eval: EvalArgument = None,
        config: ConfigOption = None,
        store: StoreOption = None,
    ) -> None:
        """Write an eval as logs that Inspect AI can read and show."""
        from manyhands.surfaces.cli.eval_report import export_eval

        export_eval(eval, to, config, store)

    @app.command("import")
    def eval_import(
        files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="logs of Inspect AI, results of promptfoo")],
        baseline: Annotated[str, typer.Option(help="the arm the others are compared with (default: the first)")] = "",
        output: Annotated[ReportOutput, output_option] = ReportOutput.TABLE,
    ) -> None:
        """Compare results of other tools with the same figures. Nothing is stored."""
        from manyhands.surfaces.cli.eval_report import import_results

        import_results(files, baseline, output)
