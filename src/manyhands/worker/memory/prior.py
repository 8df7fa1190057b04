"""An upper bound on what a transformer's batch takes, from the sizes in its configuration.

It is all that is known until the first batch has run.
"""

from manyhands.worker.values.planner_values import Growth


def activation_of(hidden: int, intermediate: int, heads: int, bytes_each: int = 4) -> Growth:
    """The peak of one layer's activations. Layers run one after the other and release theirs."""
    # Input, queries, keys, values, mixed, output, residual, normalised; the inner layer before and after activation.
    per_token = (8 * hidden + 2 * intermediate) * bytes_each
    # Scores, masked scores and softmax: three numbers for each head and pair of tokens.
    per_pair = 3 * heads * bytes_each
    return Growth(k0=8 * 2**20, k1=1.5 * per_token, k2=1.5 * per_pair)
