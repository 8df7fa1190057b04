"""How an attempt of each program ends when its service does nothing else than one thing.

Real programs and recordings of them are held to the same table.
"""

from manyhands.core.values.ending import Ending, EndingKind

OVER, FAILED, LATE = EndingKind.OVERLOADED, EndingKind.FAILED, EndingKind.TIMED_OUT
#: How an attempt ends when its service does nothing else than this: the kind, and which of its marks are set.
SILENT = (LATE, set[str]())  # it waits without end
BUSY = (OVER, set[str]())
RATE = (OVER, {"rate_limited"})
CLOSED = (OVER, {"quota"})
BILLING = (OVER, {"quota", "needs_person"})
AUTH = (OVER, {"needs_person"})
PERMANENT = (FAILED, {"permanent"})
MODES = ("rate", "quota", "busy", "auth", "context", "drop", "hang", "stall")
_ROWS: dict[str, tuple[tuple[EndingKind, set[str]], ...]] = {
    "codex": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "claude": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "qwen": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "gemini": (RATE, CLOSED, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "opencode": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "aider": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "qwen-acp": (RATE, RATE, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "gemini-acp": (RATE, CLOSED, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "opencode-acp": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
}
ENDINGS = {(agent, mode): ends for agent, row in _ROWS.items() for mode, ends in zip(MODES, row, strict=True)}
MARKS = ("quota", "rate_limited", "needs_person", "permanent")


def marks(ending: Ending) -> set[str]:
    return {name for name in MARKS if getattr(ending, name)}
