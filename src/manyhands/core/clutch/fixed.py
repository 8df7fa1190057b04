"""A width that a person pinned. It never moves, but a server that says when to come back is obeyed."""

from manyhands.core.clutch.pacer import RETRY_MAX_S
from manyhands.core.values.widths import PlainLimit, Sample


class Fixed(PlainLimit, tag="fixed"):
    width: int
    reason: str = "pinned"
    paused_until: float = 0.0
    pause_reason: str = ""

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        return (self.paused_until, self.pause_reason) if at < self.paused_until else (at, "")

    def observe(self, sample: Sample) -> None:
        if sample.rate_limited and sample.retry_after_s is not None:
            self.paused_until = max(self.paused_until, sample.at + min(sample.retry_after_s, RETRY_MAX_S))
            self.pause_reason = f"it refused the rate and said to wait {sample.retry_after_s:.0f} s"
