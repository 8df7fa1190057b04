"""Whether a simulated process still lives. What a dead one does has no effect on the world."""


class ProcessLife:
    def __init__(self) -> None:
        self.is_dead = False
