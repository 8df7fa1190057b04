"""Tells whether a simulated process is alive. What a dead process does has no effect on the world."""


class ProcessLife:
    def __init__(self) -> None:
        self.is_dead = False
