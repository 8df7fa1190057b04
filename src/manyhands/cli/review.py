"""`manyhands review`: what happened in a run, and what is left to do about it."""

import os
import time
from pathlib import Path

import msgspec

from manyhands.cli.output import ReviewOutput, put, say
from manyhands.cli.settings import load
from manyhands.cli.views import find_run, open_book
from manyhands.config.model import Config, OpenaiHost
from manyhands.errors import UnknownRun
from manyhands.landing.record import FILE, LandingRecord
from manyhands.review.markdown import as_markdown
from manyhands.review.model import Review
from manyhands.review.page import as_page
from manyhands.review.telling import review_of
from manyhands.runtime.runs import attempt_directory
from manyhands.runtime.secrets import Secrets
from manyhands.store.opening import open_reader


def review_run(run: str | None, output: ReviewOutput, config_path: Path | None, store: str | None) -> None:
    config = load(config_path, None, store)
    name = find_run(open_book(config.store_at), run).name
    review = _review(config, name)
    text = _shown(review, output)
    keys = [host.api_key_env for host in config.hosts if isinstance(host, OpenaiHost) and host.api_key_env]
    put(Secrets(os.environ, keys).redact(text))
    if output is ReviewOutput.HTML and os.isatty(1):
        say(f"hint: `manyhands review {name} --output html > review.html` keeps it")


def _review(config: Config, run: str) -> Review:
    def undeclared(task: str, number: int) -> list[str]:
        file = Path(attempt_directory(config.store_directory, run, task, number), FILE)
        try:
            return msgspec.json.decode(file.read_bytes(), type=LandingRecord).undeclared
        except (OSError, msgspec.MsgspecError):
            return []  # it had no workspace of its own

    reader = open_reader(config.store_at)
    try:
        review = review_of((event for _, event in reader.read()), run, time.time(), undeclared)
    finally:
        reader.close()
    if review is None:
        raise UnknownRun(f"the journal does not have the beginning of run `{run}`", "`manyhands runs` lists the runs")
    return review


def _shown(review: Review, output: ReviewOutput) -> str:
    match output:
        case ReviewOutput.JSON:
            return msgspec.json.format(msgspec.json.encode(review), indent=2).decode() + "\n"
        case ReviewOutput.HTML:
            return as_page(review)
        case ReviewOutput.MARKDOWN:
            return as_markdown(review)
