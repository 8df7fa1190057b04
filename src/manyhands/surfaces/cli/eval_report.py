"""`manyhands eval report|export|import`: reports from stored results, or from files of other tools."""

from collections.abc import Sequence
from pathlib import Path

from manyhands.apps.evals.spec.eval_types import EvalRecord
from manyhands.apps.evals.trial.eval_layout import EvalLayout, read_whole
from manyhands.errors import UnknownRun
from manyhands.readers.problems import did_you_mean
from manyhands.surfaces.cli.eval_options import ReportOutput
from manyhands.surfaces.cli.printing import put, put_lines, say
from manyhands.surfaces.cli.settings import Settings


def report_eval(eval_id: str | None, output: ReportOutput, sequential: bool, settings: Settings) -> None:
    print_report(_record(eval_id, settings), output, sequential)


def export_eval(eval_id: str | None, directory: Path, settings: Settings) -> None:
    from manyhands.apps.evals.exchange import write_inspect_logs

    record = _record(eval_id, settings)
    put_lines(str(path) for path in write_inspect_logs(record, directory))
    say(f"wrote eval {record.id} as logs of Inspect AI; `inspect view --log-dir {directory}` shows them")


def import_results(files: Sequence[Path], baseline: str, output: ReportOutput) -> None:
    from manyhands.apps.evals.exchange import read_results

    print_report(read_results(files, baseline), output)


def print_report(record: EvalRecord, output: ReportOutput, sequential: bool = False) -> None:
    from manyhands.apps.evals import reports
    from manyhands.apps.evals.figures import compare

    render = {ReportOutput.TABLE: reports.terminal, ReportOutput.JSON: reports.as_json, ReportOutput.HTML: reports.html}
    put(render[output](record, compare(record, sequential=sequential)))


def _record(eval_id: str | None, settings: Settings) -> EvalRecord:
    """The record of that eval, or of the one that ended last."""
    directory = settings.load().store_directory
    kept = sorted((directory / "evals").glob("*/record.json"), key=lambda path: path.stat().st_mtime)
    names = [path.parent.name for path in kept]
    if not names:
        raise UnknownRun(f"no eval has ended in {directory} yet", "`manyhands eval SPEC` runs one")
    if eval_id is not None and eval_id not in names:
        raise UnknownRun(
            f"there is no finished eval `{eval_id}`",
            did_you_mean(eval_id, names) or f"the finished ones are {', '.join(names)}",
        )
    name = eval_id or names[-1]
    record = read_whole(EvalLayout(directory, name).record, EvalRecord)
    if record is None:
        raise UnknownRun(
            f"the record of eval `{name}` cannot be read", f"look at the file {EvalLayout(directory, name).record}"
        )
    return record
