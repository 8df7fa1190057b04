"""`manyhands review`: tells what happened in a run, and what is left to do."""

import os

import msgspec

from manyhands.surfaces.cli.printing import ReviewOutput, put, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.review.review_markdown import as_markdown
from manyhands.surfaces.review.review_page import as_page
from manyhands.surfaces.review.review_types import Review
from manyhands.surfaces.verbs import review_verbs
from manyhands.surfaces.verbs.store_view import View


def review_run(run: str | None, output: ReviewOutput, settings: Settings) -> None:
    view = View(settings.load())
    review = review_verbs.review_run(view, run)
    put(view.secrets.redact(_shown(review, output)))
    if output is ReviewOutput.HTML and os.isatty(1):
        say(f"hint: `manyhands review {review.run} --output html > review.html` writes it to a file")


def _shown(review: Review, output: ReviewOutput) -> str:
    match output:
        case ReviewOutput.JSON:
            return msgspec.json.format(msgspec.json.encode(review), indent=2).decode() + "\n"
        case ReviewOutput.HTML:
            return as_page(review)
        case ReviewOutput.MARKDOWN:
            return as_markdown(review)
