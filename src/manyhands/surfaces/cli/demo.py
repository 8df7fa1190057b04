"""`manyhands demo`: a small story on one machine, run as any other plan is."""

import math
import sys
import tempfile
from pathlib import Path

from msgspec.structs import replace

from manyhands.apps.demo.demo_story import stand_in_model, write_story
from manyhands.errors import UsageError
from manyhands.surfaces.cli.page import open_in_browser
from manyhands.surfaces.cli.printing import OutputFormat, say
from manyhands.surfaces.cli.run import RunHooks, run_plans
from manyhands.surfaces.cli.run_options import RunOptions
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.review.review_markdown import outcome_lines
from manyhands.surfaces.verbs.review_verbs import review_run
from manyhands.surfaces.verbs.store_view import View

SCALE = 1.0
MIX_SCALE = 0.1
#: What the story shows, in the order in which it usually happens.
_TOLD = """\
Agents tidy up a small repository, and a model writes 48 sentences for it.
All of them are programs on this machine that stand in for the real ones. See:
  - both widths start at 4 and climb, each with a reason;
  - the model refuses with 429; starts are paced, and no task loses an attempt;
  - readme-usage and readme-install want one file: one waits for the other;
  - fix-discount fails its check, is told why, and then gets it right;
  - every change lands as one commit, after its check has passed.
"""


def run_demo(mix: bool, scale: float | None, page: bool, output: OutputFormat, settings: Settings) -> int:
    if scale is not None and not 0 < scale < math.inf:
        raise UsageError(
            f"`--scale` must be a number above 0, got {scale:g}",
            "1.0 is about half a minute; with `--mix`, tasks of 30, 20 and 40 seconds",
        )
    if mix:
        from manyhands.surfaces.cli.demo_mix import run_mix

        return run_mix(scale or MIX_SCALE, output, settings)
    return _tell_story(scale or SCALE, page, output)


def _tell_story(pace: float, page: bool, output: OutputFormat) -> int:
    directory = Path(tempfile.mkdtemp(prefix="manyhands-demo-"))
    settings = Settings(config=directory / "manyhands.toml", store=str(directory / ".manyhands"))
    say(_TOLD)
    hooks = RunHooks(
        served=open_in_browser if sys.stderr.isatty() and output is OutputFormat.TABLE else None,
        ended=lambda: _tell_end(directory, settings),
    )
    with stand_in_model(pace) as port:
        plan = write_story(directory, port, pace)
        return run_plans([plan], RunOptions(follow=page), output, settings, hooks)


def _tell_end(directory: Path, settings: Settings) -> None:
    """The review, in short, and where to look on."""
    review = review_run(View(settings.load()), None)
    say(f"\nReview: {review.outcome.headline}")
    for line in outcome_lines(replace(review.outcome, hosts=[])):
        say(line)
    say(
        "\nLook around in it:\n"
        f"  cd {directory}\n"
        "  git log --stat                     the commits that landed\n"
        "  manyhands review                   every decision, with its reason\n"
        "  manyhands task show fix-discount   the failed check, and who was told\n"
        "next: `manyhands init` in a repository of your own"
    )
