"""The figures of an eval, and how certain they are: `compare(record)`."""

from manyhands.apps.evals.figures.comparing import compare
from manyhands.apps.evals.figures.figure_values import Comparison
from manyhands.apps.evals.figures.lifts import LiftQuestion
from manyhands.apps.evals.figures.stopping import decided

__all__ = ["Comparison", "LiftQuestion", "compare", "decided"]
