"""`manyhands ask`: prints the answer of a person, or what to do until it comes."""

import os
from collections.abc import Sequence

from manyhands.surfaces.cli.printing import put_lines
from manyhands.surfaces.verbs.ask_verbs import ask_person


def print_answer(question: str, choices: Sequence[str]) -> None:
    reply = ask_person(os.environ, question, choices)
    put_lines([reply.told if reply.answer is None else reply.answer])
