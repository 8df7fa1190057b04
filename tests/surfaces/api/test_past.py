"""What a page is told of the time before its dispatcher started: what the journal and the samples have of it."""

from manyhands.core.events import AnyEvent, RunOpened, WidthMoved
from manyhands.engine.store.contract.samples import RunSample, SeriesSample
from manyhands.surfaces.api.picture.past import STOOD_MAX, WIDTHS_MAX, past_of


def moves(n: int) -> list[tuple[int, AnyEvent]]:
    return [(seq, WidthMoved(float(seq), "local", seq, seq - 1, "up")) for seq in range(1, n + 1)]


def test_the_past_ends_with_the_event_from_which_on_the_picture_looks_itself() -> None:
    past = past_of([*moves(3), (4, RunOpened(4.0, "r")), *[(5, WidthMoved(5.0, "local", 9, 3, "later"))]], 4, ())
    assert [(row["at"], row["was"], row["width"]) for row in past.widths] == [(1.0, 0, 1), (2.0, 1, 2), (3.0, 2, 3)]
    assert past.widths_total == 3


def test_of_many_moves_the_latest_are_told_and_how_many_there_were() -> None:
    past = past_of(moves(WIDTHS_MAX + 10), WIDTHS_MAX + 10, ())
    assert (len(past.widths), past.widths[0]["at"], past.widths_total) == (WIDTHS_MAX, 11.0, WIDTHS_MAX + 10)


def test_who_waited_is_told_run_by_run_and_coarser_if_there_is_much() -> None:
    runs = {
        "a": RunSample({"ready": 2}, 4.0),
        "b": RunSample({"ready": 1, "done": 3}, 9.0),
        "c": RunSample({"done": 1}),
    }
    past = past_of((), 0, [SeriesSample(float(at), {}, runs) for at in range(2 * STOOD_MAX)])
    assert past.stood[-1] == {
        "at": 2 * STOOD_MAX - 1,
        "oldest_s": 9.0,
        "runs": {"a": 4.0, "b": 9.0},
        "ready": 3,
        "ceiling": None,
    }
    assert len(past.stood) == STOOD_MAX
