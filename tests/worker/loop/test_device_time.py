"""How long a device worked on each batch if several were queued on it."""

from manyhands.worker.loop.computing import Computed
from manyhands.worker.loop.device_time import DeviceTime
from manyhands.worker.values.planner_values import CPU


def test_on_the_processor_it_is_the_time_of_the_thread() -> None:
    assert DeviceTime().of(CPU, Computed(took_s=0.2, began_at=1.0, ended_at=9.0)) == 0.2


def test_elsewhere_a_batch_is_not_charged_for_those_before_it() -> None:
    times = DeviceTime()
    assert times.of("gpu", Computed(began_at=1.0, ended_at=3.0)) == 2.0
    assert times.of("gpu", Computed(began_at=1.5, ended_at=4.0)) == 1.0
    assert times.of("other", Computed(began_at=1.5, ended_at=4.0)) == 2.5
    assert times.of("gpu", Computed(began_at=7.0, ended_at=7.5)) == 0.5
