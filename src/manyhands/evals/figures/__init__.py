"""What the outcomes of an eval amount to, and how sure that is: `compare(record)`."""

from manyhands.evals.figures.comparing import compare
from manyhands.evals.figures.lifts import Question
from manyhands.evals.figures.stopping import decided
from manyhands.evals.figures.values import Comparison

__all__ = ["Comparison", "Question", "compare", "decided"]
