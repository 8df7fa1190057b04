"""Every item gets its own answer exactly once, whatever happens to its batch."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from manyhands.worker.devices.simulated_devices import SimulatedDevice, SimulatedDevices
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.values.item_answers import Busy, ItemAnswer, NoSuchModel, Stopping, Stuck, Trouble
from worker.loop.made_up_models import GIVES_NAN, MB, RAISES, MadeUp, engine_of, rows_of


def told(answers: list[ItemAnswer | Trouble]) -> list[float | str]:
    return [answer.code if isinstance(answer, Trouble) else float(answer.output[0]) for answer in answers]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(90):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_each_item_gets_its_own_answer_in_the_order_asked() -> None:
    async with engine_of(MadeUp()) as engine:
        answers = await engine.run("sums", rows_of(*range(1, 200)))
        assert told(answers) == [float(number) for number in range(1, 200)]


async def test_a_row_that_fells_its_batch_fails_alone() -> None:
    model = MadeUp()
    async with engine_of(model) as engine:
        answers = await engine.run("sums", rows_of(1, 2, RAISES, 4, 5, 6, 7, 8))
        assert told(answers) == [1, 2, "failed", 4, 5, 6, 7, 8]
        assert isinstance(answers[2], Trouble)
        assert "a row that nothing can be made of" in answers[2].message
        assert model.failures <= 4  # the batch is halved; items are not tried one by one
        assert engine.trouble() == ""


async def test_numbers_that_are_none_fail_their_row_alone() -> None:
    async with engine_of(MadeUp()) as engine:
        assert told(await engine.run("sums", rows_of(1, GIVES_NAN, 3))) == [1, "not_finite", 3]


async def test_rows_of_another_width_than_the_model_has_are_no_answers() -> None:
    async with engine_of(MadeUp(width=3)) as engine:
        assert told(await engine.run("sums", rows_of(1, 2))) == ["wrong_width", "wrong_width"]


@pytest.mark.parametrize(
    "disguise", ["could not create a primitive", "std::bad_alloc", "DefaultCPUAllocator: can't allocate memory"]
)
async def test_an_exhausted_memory_loses_no_item_and_does_none_twice(disguise: str) -> None:
    model = MadeUp(tokens_max=20, disguise=disguise)
    async with engine_of(model) as engine:
        assert told(await engine.run("sums", rows_of(*range(1, 101)))) == [float(n) for n in range(1, 101)]
        assert set(model.computed.values()) == {1}
        assert 1 <= model.failures <= 7
        before = model.failures
        await engine.run("sums", rows_of(*range(1001, 1101)))
        assert model.failures == before  # the bound is remembered


async def test_a_model_that_does_not_load_fails_its_items_and_no_others() -> None:
    bad = MadeUp("bad", load_error=ValueError("weights of another world"))
    async with engine_of(bad, MadeUp("good")) as engine:
        failed, fine = await asyncio.gather(engine.run("bad", rows_of(1)), engine.run("good", rows_of(2)))
        assert told(fine) == [2]
        assert isinstance(failed[0], Trouble)
        assert "weights of another world" in failed[0].message
        with pytest.raises(Busy):  # loading is tried again, but not at once
            await engine.run("bad", rows_of(1))


async def test_a_full_queue_pushes_back_and_what_was_taken_is_answered() -> None:
    model = MadeUp(released=threading.Event())
    async with engine_of(model, queue_items_max=20) as engine:
        taken = [asyncio.create_task(engine.run("sums", rows_of(number))) for number in range(1, 4)]
        await until(lambda: model.inside)
        full = [asyncio.create_task(engine.run("sums", rows_of(*range(10, 20)))) for _ in range(3)]
        await until(lambda: any(task.done() for task in full))
        refused = next(task for task in full if task.done())
        with pytest.raises(Busy) as busy:
            refused.result()
        assert busy.value.retry_after_s > 0
        assert model.released is not None
        model.released.set()
        assert [told(await task) for task in taken] == [[1], [2], [3]]
        await asyncio.wait(full)


async def test_a_batch_that_does_not_end_is_told_of_and_nobody_waits_for_ever() -> None:
    model = MadeUp(released=threading.Event())
    assert model.released is not None
    try:
        async with engine_of(model, stuck_after_s=0.2) as engine:
            assert engine.trouble() == ""
            assert told(await engine.run("sums", rows_of(1))) == ["stuck"]
            assert "batches that do not end: 1; one of `sums`" in engine.trouble()
            with pytest.raises(Stuck):
                await engine.run("sums", rows_of(2))
            model.released.set()
            await until(lambda: engine.trouble() == "")
            assert told(await engine.run("sums", rows_of(3))) == [3]
    finally:
        model.released.set()


async def test_several_batches_run_at_once_over_one_copy_of_the_weights() -> None:
    model = MadeUp(released=threading.Event())
    assert model.released is not None
    async with engine_of(model, threads=3, batch_items_max=1) as engine:
        asked = asyncio.create_task(engine.run("sums", rows_of(1, 2, 3, 4)))
        await until(lambda: model.inside == 3)
        model.released.set()
        assert told(await asked) == [1, 2, 3, 4]
        assert (model.loads, model.inside_most) == (1, 3)


async def test_a_model_makes_room_for_another_and_comes_back() -> None:
    device = SimulatedDevice(2048 * MB)
    one = MadeUp("one", weights_bytes=900 * MB, device=device)
    other = MadeUp("other", weights_bytes=900 * MB, device=device)
    async with engine_of(one, other, devices=SimulatedDevices({"cpu": device})) as engine:
        assert told(await engine.run("one", rows_of(1))) == [1]
        async with asyncio.timeout(90):
            assert told(await engine.run("other", rows_of(2))) == [2]
            assert (one.closes, other.loads) == (1, 1)
            assert told(await engine.run("one", rows_of(3))) == [3]
        assert engine.counts.evictions == {"one": 1, "other": 1}
        assert device.own_bytes == 900 * MB


async def test_who_stops_waiting_is_not_computed_for() -> None:
    model = MadeUp(released=threading.Event())
    assert model.released is not None
    async with engine_of(model, batch_items_max=1) as engine:
        first = asyncio.create_task(engine.run("sums", rows_of(1)))
        await until(lambda: model.inside)
        second = asyncio.create_task(engine.run("sums", rows_of(2)))
        await until(lambda: engine.statistics().models[0].waiting == 1)
        second.cancel()
        await asyncio.wait({second})
        model.released.set()
        await first
        assert told(await engine.run("sums", rows_of(3))) == [3]
        assert 2 not in model.computed


async def test_a_stopping_worker_answers_what_it_took_and_takes_no_more() -> None:
    model = MadeUp(released=threading.Event())
    assert model.released is not None
    async with engine_of(model) as engine:
        asked = asyncio.create_task(engine.run("sums", rows_of(1)))
        await until(lambda: model.inside)
        draining = asyncio.create_task(engine.drain(60))
        await until(lambda: engine.is_draining)
        with pytest.raises(Stopping):
            await engine.run("sums", rows_of(2))
        model.released.set()
        await draining
        assert told(await asked) == [1]


async def test_a_model_that_is_not_there_is_named_with_those_that_are() -> None:
    async with engine_of(MadeUp()) as engine:
        with pytest.raises(NoSuchModel, match="no model `nope`") as error:
            _asked(engine, "nope")
        assert error.value.hint == "this worker hosts `sums`"


def _asked(engine: WorkerLoop, model: str) -> None:
    engine.description(model)


async def test_batches_given_out_before_one_ran_out_of_memory_are_planned_anew() -> None:
    """With one thread, the other batches wait behind it. If they ran unchanged, each would run out of memory too."""
    model = MadeUp(tokens_max=15, released=threading.Event())  # eight short items are too many, four are not
    async with engine_of(model, in_flight_max=3, batch_items_max=8) as engine:
        asked = asyncio.ensure_future(engine.run("sums", rows_of(*range(1, 25))))
        await until(lambda: sum(each.in_flight for each in engine.statistics().models) == 3)
        model.released.set()
        answers = await asked
        assert [float(answer.output[0]) for answer in answers if isinstance(answer, ItemAnswer)] == list(range(1, 25))
        assert engine.counts.batches_out_of_memory["sums"] == model.failures == 1
    assert set(model.computed.values()) == {1}


async def test_memory_that_cannot_be_handed_back_costs_a_measurement_and_no_batch() -> None:
    model = MadeUp(give_back_error=MemoryError())
    async with engine_of(model) as engine:
        answers = await engine.run("sums", rows_of(1, 2, 3))
        assert [float(answer.output[0]) for answer in answers if isinstance(answer, ItemAnswer)] == [1, 2, 3]
    assert model.given_back == 1


async def test_memory_kept_for_the_next_batch_is_handed_back_when_none_comes() -> None:
    model = MadeUp()
    async with engine_of(model) as engine:
        await engine.run("sums", rows_of(1))
        measured = model.given_back
        await until(lambda: model.given_back > measured)
        (answer,) = await engine.run("sums", rows_of(2))
        assert isinstance(answer, ItemAnswer)
