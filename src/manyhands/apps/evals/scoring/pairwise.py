"""Asks a model which of two answers is better, twice: the second time in the other order."""

import re

QUESTION = "Which answer does what was asked for better?"
#: The rest of a longer answer is left out, because the context of a judge is limited.
ANSWER_CHARACTERS_MAX = 20_000
_VERDICT = re.compile(r"verdict\W{0,6}(1|2|tie)\b", re.IGNORECASE)


def grading_prompt(question: str, asked: str, first: str, second: str) -> str:
    return (
        f"Two answers to the same request are compared. {question or QUESTION}\n"
        "Judge what they say, not their order or length.\n\n"
        f"<request>\n{asked}\n</request>\n\n"
        f"<answer-1>\n{first[:ANSWER_CHARACTERS_MAX]}\n</answer-1>\n\n"
        f"<answer-2>\n{second[:ANSWER_CHARACTERS_MAX]}\n</answer-2>\n\n"
        "Give a short reason. Then end with one line that is `Verdict: 1`, `Verdict: 2` or `Verdict: tie`."
    )


def win_of(verdict: str, place: int) -> float | None:
    """The score of the answer in that place (1 or 2): 1, 0.5 or 0. None if the judge gave no verdict."""
    found = _VERDICT.findall(verdict)
    if not found:
        return None
    said = found[-1].lower()
    return 0.5 if said == "tie" else float(said == str(place))
