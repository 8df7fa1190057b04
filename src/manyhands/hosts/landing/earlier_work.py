"""What an attempt that was interrupted had brought to its end before: that is not done again."""

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.question import Question, QuestionKind
from manyhands.hosts.landing.change_size import change_in_words, changed_lines
from manyhands.hosts.landing.commits import find_landed, name_of
from manyhands.hosts.landing.landing_record import earlier_records
from manyhands.hosts.landing.repository import Repository


def landed_before(repository: Repository, order: StartAttempt, directory: str, since: int) -> Ending | None:
    """The ending if a lost attempt landed in its last moment: then the task is done and does not run again.

    Attempts before the one numbered `since` were at other work, which may have landed too.
    """
    for number, record in earlier_records(directory, order.number):
        if number < since:
            continue
        landed = find_landed(repository, record.base, name_of(order))
        if landed is not None:
            detail = f"landed as {landed[:10]} on {repository.target} by attempt {number}, whose ending was lost"
            return Ending(EndingKind.DONE, detail)
    return None


def waited_before(repository: Repository, order: StartAttempt, directory: str) -> Ending | None:
    """The ending if the work of the lost attempt before this one waits for approval: then it is not done again."""
    last = order.last
    if last is None or not last.kind.is_interruption or (order.guidance is not None and order.guidance.approved):
        return None
    number, record = next(reversed([*earlier_records(directory, order.number)]), (0, None))
    if record is None or number != order.number - 1 or not (record.waits and record.commit):
        return None
    if repository.git.ask("rev-parse", "--verify", "--quiet", f"{record.commit}^{{commit}}") is None:
        return None
    text = change_in_words(changed_lines(repository.git, record.base, record.commit), record.undeclared)
    detail = f"the work of attempt {number}, whose ending was lost"
    return Ending(EndingKind.DONE, detail, asks=Question(QuestionKind.APPROVAL, text, commit=record.commit))
