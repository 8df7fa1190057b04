"""`manyhands review`: tells what happened in a run or a period, and what is left to do."""

import os

import msgspec

from manyhands.surfaces.cli.printing import ReviewOutput, put, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.review.review_markdown import as_markdown
from manyhands.surfaces.review.review_page import as_page
from manyhands.surfaces.review.review_types import PeriodReview, Review
from manyhands.surfaces.verbs.review_verbs import review
from manyhands.surfaces.verbs.store_view import View


def print_review(
    run: str | None, epic: str, since: str | None, until: str | None, output: ReviewOutput, settings: Settings
) -> None:
    view = View(settings.load())
    told = review(view, run, epic, since, until)
    put(view.secrets.redact(_shown(told, output)))
    if output is ReviewOutput.HTML and os.isatty(1):
        say("hint: `manyhands review … --output html > review.html` writes it to a file")


def _shown(told: Review | PeriodReview, output: ReviewOutput) -> str:
    match output:
        case ReviewOutput.JSON:
            return msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n"
        case ReviewOutput.HTML:
            return as_page(told)
        case ReviewOutput.MARKDOWN:
            return as_markdown(told)
