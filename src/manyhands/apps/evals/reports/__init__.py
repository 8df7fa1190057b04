"""The figures of an eval for people and programs: a table, a JSON document, one self-contained page."""

from manyhands.apps.evals.reports.document import as_json
from manyhands.apps.evals.reports.eval_page import html
from manyhands.apps.evals.reports.eval_table import terminal

__all__ = ["as_json", "html", "terminal"]
