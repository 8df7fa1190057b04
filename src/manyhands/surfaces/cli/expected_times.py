"""One line that says how long a backlog takes: with nothing known, with memory, and at the best fixed width."""

from manyhands.surfaces.cli.printing import duration


def expected_times(tasks: int, cold_s: float, with_memory_s: float, fixed_s: float) -> str:
    times = f"about {duration(cold_s)} cold, {duration(with_memory_s)} with memory"
    return f"{tasks:,} task{'s' if tasks > 1 else ''} here: {times}, {duration(fixed_s)} at the best fixed width"
