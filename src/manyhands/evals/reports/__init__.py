"""The figures of an eval for people and programs: a table, a JSON document, one self-contained page."""

from manyhands.evals.reports.document import as_json
from manyhands.evals.reports.page import html
from manyhands.evals.reports.table import terminal

__all__ = ["as_json", "html", "terminal"]
