"""What a transformer's batch takes at most, from the sizes in its configuration: a guess until the first batch ran."""

from manyhands.worker.values.planner_values import Growth


def activation_of(hidden: int, intermediate: int, heads: int, bytes_each: int = 4) -> Growth:
    """One layer's activations at their fullest: layers run one after the other and let go of theirs."""
    # Input, queries, keys, values, mixed, output, residual, normalised; the inner layer before and after its function.
    per_token = (8 * hidden + 2 * intermediate) * bytes_each
    # Scores, mask added, softmax: one number for each head and pair of tokens, three times over.
    per_pair = 3 * heads * bytes_each
    return Growth(k0=8 * 2**20, k1=1.5 * per_token, k2=1.5 * per_pair)
