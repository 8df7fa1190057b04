"""Memory belongs to a host and its model: another model begins anew, and hosts with the same model help each other."""

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.limit_choice import limit_for
from manyhands.core.learning import Memory
from manyhands.core.values.host import Host
from manyhands.core.values.host_memory import HostMemory


def test_what_a_host_bore_with_another_model_is_not_believed() -> None:
    memory = Memory({"gpu": HostMemory(40.0, 9, model="small")})
    assert memory.of(Host("gpu", model="large")) is None
    known = memory.of(Host("gpu", model="small"))
    assert known is not None
    assert known.width == 40.0


def test_memory_from_before_the_model_was_kept_is_believed() -> None:
    memory = Memory({"gpu": HostMemory(40.0, 9)})
    assert memory.of(Host("gpu", model="large")) is not None


def test_a_new_host_begins_at_half_of_what_another_with_the_same_model_bears() -> None:
    memory = Memory({"old": HostMemory(12.0, 9, model="m", at=1.0), "newer": HostMemory(40.0, 9, model="m", at=2.0)})
    host = Host("fresh", model="m")
    limit = limit_for(host, memory.of(host))
    assert isinstance(limit, Clutch)
    assert (limit.width, limit.is_launching) == (20, True)
    assert limit.reason == "half of the 40 that newer bears with the same model"
    assert memory.of(Host("fresh", model="other")) is None
    assert memory.of(Host("fresh")) is None
