"""What a sink must do, and how it says that it could not."""

from typing import Protocol

from manyhands.engine.delivery.sinks.letters import Letter


class SinkError(Exception):
    """It was not taken. `permanent`: nor would it be if it were sent again as it is."""

    def __init__(self, message: str, *, permanent: bool = False, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.retry_after_s = retry_after_s


class Sink(Protocol):
    async def send(self, letter: Letter) -> None:
        """Returns when the sink has it for good; raises `SinkError` if it has not, or nobody knows."""

    async def close(self) -> None: ...
