"""How much memory may be set aside, given what is free."""

import pytest

from manyhands.worker.memory.memory_budget import Ledger, MemoryBudget
from manyhands.worker.values.planner_values import DeviceMemory

GIB = 2**30
ONE = MemoryBudget(reserve_bytes=GIB)
TWO = MemoryBudget(reserve_bytes=GIB, computing_max=2)


def test_room_comes_from_free_memory_not_from_the_total() -> None:
    memory = DeviceMemory(24 * GIB, 10 * GIB, own_bytes=0)
    assert ONE.room_for_batch(memory, Ledger(), 0) == int(0.9 * 10 * GIB) - GIB


def test_what_an_allocator_holds_for_us_is_room() -> None:
    memory = DeviceMemory(24 * GIB, 10 * GIB, own_bytes=4 * GIB, reusable_bytes=4 * GIB)
    assert ONE.room_for_batch(memory, Ledger(), 0) == int(0.9 * 14 * GIB) - GIB


def test_what_is_promised_and_not_yet_taken_is_no_room() -> None:
    memory = DeviceMemory(24 * GIB, 20 * GIB, own_bytes=0)
    ledger = Ledger(loading=4 * GIB, batches={1: 2 * GIB})
    assert ONE.room_for_model(memory, ledger, 0) == int(0.9 * 14 * GIB) - GIB
    assert ONE.room_for_batch(memory, ledger, 0) == int(0.9 * 16 * GIB) - GIB  # it computes after the other batch
    assert TWO.room_for_batch(memory, ledger, 0) == int(0.9 * 14 * GIB) - GIB


def test_what_is_promised_and_taken_is_counted_once() -> None:
    memory = DeviceMemory(24 * GIB, 14 * GIB, own_bytes=7 * GIB)
    ledger = Ledger(resident=1 * GIB, loading=4 * GIB, batches={1: 2 * GIB})
    assert ONE.room_for_model(memory, ledger, 0) == int(0.9 * 14 * GIB) - GIB
    assert ONE.room_for_batch(memory, ledger, 0) == int(0.9 * 16 * GIB) - GIB


def test_a_device_that_does_not_tell_whose_is_whose_is_taken_at_its_worst() -> None:
    memory = DeviceMemory(24 * GIB, 14 * GIB, own_bytes=None)
    ledger = Ledger(resident=1 * GIB, loading=4 * GIB, batches={1: 2 * GIB})
    assert ONE.room_for_model(memory, ledger, 0) == int(0.9 * 8 * GIB) - GIB


def test_what_the_process_held_before_any_model_is_not_taken_for_a_model() -> None:
    memory = DeviceMemory(24 * GIB, 20 * GIB, own_bytes=3 * GIB)
    ledger = Ledger(loading=3 * GIB)
    assert ONE.room_for_model(memory, ledger, own_at_start_bytes=3 * GIB) == int(0.9 * 17 * GIB) - GIB


@pytest.mark.parametrize("free", [0, GIB // 2])
def test_without_free_memory_there_is_no_room(free: int) -> None:
    assert ONE.room_for_batch(DeviceMemory(24 * GIB, free, 0), Ledger(), 0) < 0
