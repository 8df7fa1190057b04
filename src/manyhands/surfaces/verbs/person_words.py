"""What people said to a task, in one line."""

from manyhands.core.events import WorkJudged


def judged_in_words(event: WorkJudged) -> str:
    said = f": {event.words}" if event.words else ""
    return f"{event.verdict.replace('_', ' ')} by {event.by or 'a person'}{said}"
