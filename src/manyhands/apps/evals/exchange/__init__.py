"""Results of other eval tools as records of ours, and ours as logs that Inspect AI reads."""

from manyhands.apps.evals.exchange.inspect_writing import write_inspect_logs
from manyhands.apps.evals.exchange.results_reading import read_results

__all__ = ["read_results", "write_inspect_logs"]
