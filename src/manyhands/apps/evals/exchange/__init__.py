"""Reads results of other eval tools as eval records, and writes eval records as Inspect AI logs."""

from manyhands.apps.evals.exchange.inspect_writing import write_inspect_logs
from manyhands.apps.evals.exchange.results_reading import read_results

__all__ = ["read_results", "write_inspect_logs"]
