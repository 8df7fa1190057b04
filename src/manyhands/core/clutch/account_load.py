"""How many agents an account bears, learned from those that it turned away and from those that run on.

An agent calls for minutes, so neither a rate of starts nor the goodput of a few endings shows what its account allows.
While agents are turned away, none is started in their place: those that run on are what the account bears. After quiet
minutes the width grows again, up to a little below the number that met trouble.
"""

import math

from msgspec import Struct

#: Losses within this time belong together: programs try again by themselves for so long before they give up.
INCIDENT_S = 30.0
#: Of those in flight, at least this share is kept through one incident. Some give up though there is room again.
KEPT = 0.5
#: With a full width and no loss for this long, one more is tried, or this share more.
QUIET_S, GROWTH = 45.0, 0.1
#: Nearer than this to the number that met trouble, the next step waits longer, and after each failure twice as long.
NEAR = 0.85
NEAR_QUIET_S = 900.0
FULL = 0.9
#: If so many of those in flight were refused within this time and ask again, it is too many; half of them: by far.
ASKS_S, ASKS_MIN, ASKS_SHARE, ASKS_MANY = 15.0, 2, 0.15, 0.5
ASKS_CUT = 0.75
#: One loss so long after the last is an accident, as long as no other follows.
ACCIDENT_S = 240.0
NEVER_S = 1e8


class AccountLoad(Struct):
    trouble: int = 0  # in flight when the last incident began; 0: none was turned away yet
    least: int = 1  # the incident does not narrow below this
    incident_at: float = -1e9
    lost_at: float = -1e9
    quiet_s: float = 0.0  # with a full width, since the last loss or step
    ticked_at: float | None = None
    near_tries: int = 0
    is_near: bool = False  # the last step went near the number that met trouble
    asks: list[float] = []  # when calls were refused that the programs repeat, of late
    has_life: bool = True  # something was shown or done since the last incident began

    def lost(self, at: float, in_flight: int, of_rate: bool) -> float:
        """One was turned away; `in_flight` counts it. Returns the width that follows."""
        since_s, self.lost_at = at - self.lost_at, at
        # Where nothing is shown or done between losses, the account is down and not too full.
        if at - self.incident_at > INCIDENT_S and (self.has_life or since_s > INCIDENT_S):
            if self.trouble and ACCIDENT_S < since_s < NEVER_S:
                return float(in_flight)
            self.incident_at, self.has_life = at, False
            self.least = max(1, math.ceil(KEPT * in_flight))
            self.trouble = in_flight
            self.near_tries += self.is_near
            self.is_near = False
        if not of_rate:  # what it bears at once shows exactly; a rate is refused for a while after it was too high
            self.trouble = min(self.trouble, in_flight)
        self.quiet_s = 0.0
        return float(max(self.least, in_flight - 1))

    def asked(self, at: float, count: int, in_flight: int) -> float | None:
        """Some were refused and ask again by themselves. Returns the width that the start falls back to.

        None: too few to tell. Near what an account allows, some calls are always refused and repeated.
        """
        self.asks = [each for each in self.asks if each > at - ASKS_S] + [at] * count
        share = len(self.asks) / max(1, in_flight)
        if len(self.asks) < ASKS_MIN or share < ASKS_SHARE:
            return None
        self.quiet_s = 0.0
        return float(max(1, math.ceil(ASKS_CUT * in_flight))) if share >= ASKS_MANY else float(in_flight)

    def asks_told(self, in_flight: int) -> str:
        return f"{len(self.asks)} calls of {in_flight} agents were refused within {ASKS_S:.0f} s"

    def grown(self, at: float, in_flight: int, width: float) -> tuple[float, float] | None:
        """The next width and the quiet seconds that allow it; None: not yet."""
        if self.ticked_at is None and self.trouble:  # from memory
            self.lost_at = at
        passed_s = 0.0 if self.ticked_at is None else at - self.ticked_at
        self.ticked_at = at
        if not self.trouble or in_flight < FULL * int(width + 0.5):
            return None
        self.quiet_s += passed_s
        wider = width + max(1.0, GROWTH * width)
        is_near = wider > NEAR * self.trouble
        if self.quiet_s < (NEAR_QUIET_S * 2**self.near_tries if is_near else QUIET_S):
            return None
        quiet_s, self.quiet_s = self.quiet_s, 0.0
        self.is_near = is_near
        return wider, quiet_s
