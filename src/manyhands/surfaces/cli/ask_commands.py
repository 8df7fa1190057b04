"""`manyhands ask`: its declarations."""

from collections.abc import Sequence
from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.settings import Settings


def ask(
    question: Annotated[str, Argument("QUESTION", help="What a person is asked.")],
    settings: Settings,
    choice: Annotated[Sequence[str], Option("--choice", metavar="TEXT", help="An answer that makes sense.")] = (),
) -> None:
    """Ask a person, from inside an attempt, and print the answer. Agents that can be resumed need not wait for it."""
    from manyhands.surfaces.cli.asking_person import print_answer

    print_answer(question, choice)


noun = Noun(ask)
