"""Everything that a snapshot promises to keep of a host is there after it is loaded."""

from typing import Any

import msgspec
import pytest

from helpers import Player
from manyhands.core import snapshot
from manyhands.core.clutch.clutch import Clutch
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import FamilyBarrier, KeptHost, Lane
from manyhands.core.values.host import Host
from manyhands.core.values.lease import PullWish

#: field → a value that no new host has
UNLIKE_A_NEW_HOST: dict[str, Any] = {
    "host": Host("local", kinds=("odd",)),
    "limit": Clutch.begin(start=17),
    "width": 17,
    "reason": "a test",
    "lanes": {"code": Lane(3, "hard here", 2, 4.5)},
    "pinned": 5,
    "peak": 9,
    "paused": "by a test",
    "paused_until": 77.0,
    "is_closed": True,
    "needs_person": True,
    "is_gone": True,
    "refused": 4,
    "trials": 3,
    "on_trial": True,
    "workers": 6,
    "workers_why": "many wait",
    "probe_trouble": "nothing answers",
    "kept_by": FamilyBarrier("plan-1", "reboot"),
    "configured_at": 12.5,
    "has_cost": True,
    "wishes": {"ann": PullWish("ann", 99.0)},
    "area": 33.0,
    "area_at": 44.0,
}


def test_the_values_are_of_every_field() -> None:
    assert list(UNLIKE_A_NEW_HOST) == [field.name for field in msgspec.structs.fields(KeptHost)]


@pytest.mark.parametrize("field", UNLIKE_A_NEW_HOST)
def test_every_kept_field_of_a_host_survives(field: str) -> None:
    scheduler = Player(Host("local")).scheduler
    host = scheduler.book.hosts["local"]
    fresh = msgspec.to_builtins(getattr(host, field))
    setattr(host, field, UNLIKE_A_NEW_HOST[field])
    kept = msgspec.to_builtins(UNLIKE_A_NEW_HOST[field])
    assert kept != fresh, "a value that cannot tell kept from lost"
    loaded = Scheduler()
    assert snapshot.load(loaded, snapshot.save(scheduler))
    assert msgspec.to_builtins(getattr(loaded.book.hosts["local"], field)) == kept
