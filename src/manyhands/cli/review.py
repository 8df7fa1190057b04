"""`manyhands review`: what happened in a run, and what is left to do about it."""

import os
from pathlib import Path

import msgspec

from manyhands.cli.output import ReviewOutput, put, say
from manyhands.cli.settings import load
from manyhands.review.markdown import as_markdown
from manyhands.review.model import Review
from manyhands.review.page import as_page
from manyhands.verbs import reviews
from manyhands.verbs.views import View


def review_run(run: str | None, output: ReviewOutput, config_path: Path | None, store: str | None) -> None:
    view = View(load(config_path, None, store))
    review = reviews.review_run(view, run)
    put(view.secrets.redact(_shown(review, output)))
    if output is ReviewOutput.HTML and os.isatty(1):
        say(f"hint: `manyhands review {review.run} --output html > review.html` keeps it")


def _shown(review: Review, output: ReviewOutput) -> str:
    match output:
        case ReviewOutput.JSON:
            return msgspec.json.format(msgspec.json.encode(review), indent=2).decode() + "\n"
        case ReviewOutput.HTML:
            return as_page(review)
        case ReviewOutput.MARKDOWN:
            return as_markdown(review)
