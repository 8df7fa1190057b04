"""Which attempts make way for a critical task that finds no room."""

from collections.abc import Iterable

from manyhands.core.state import Running


def victims(running: Iterable[Running], wanted: int) -> list[Running]:
    """At most `wanted` of them: only what is marked preemptible and less urgent; least urgent and youngest first."""
    willing = [one for one in running if one.record.task.preemptible and one.record.task.priority > 0]
    # Those already on their way out for a critical task count as found.
    wanted -= sum(1 for one in willing if one.stop_why is not None)
    willing = [one for one in willing if one.stop_why is None]
    willing.sort(key=lambda one: (-one.record.task.priority, -one.started_at, -one.attempt))
    return willing[: max(0, wanted)]
