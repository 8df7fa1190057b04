"""From the ends of its sessions to what became of a trial."""

from collections.abc import Sequence

from manyhands.apps.evals.spec.eval_types import SessionEnd, TrialState


def trial_state(ends: Sequence[SessionEnd | None]) -> TrialState:
    """`scored` means that it can be scored: all sessions are done, or one failed and no later one was begun."""
    for end in ends:
        match end:
            case None:
                return "missing"
            case "aborted" | "infrastructure":
                return end
            case "failed":
                return "scored"
            case "done":
                continue
    return "scored"
