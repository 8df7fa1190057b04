"""Reports of an eval: a table, a JSON document, or one self-contained page."""

from manyhands.apps.evals.reports.document import as_json
from manyhands.apps.evals.reports.eval_page import html
from manyhands.apps.evals.reports.eval_table import terminal

__all__ = ["as_json", "html", "terminal"]
