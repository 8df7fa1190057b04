"""What the journal and the kept samples tell of the time before a dispatcher started: widths, and who waited."""

from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from manyhands.core.events import AnyEvent, WidthMoved
from manyhands.core.values.task import TaskState
from manyhands.engine.store.contract.samples import SeriesSample
from manyhands.surfaces.api.picture.picture_rows import PictureRow, width_row

#: How many changes of widths, and how many samples, a page is told of.
WIDTHS_MAX = 5_000
STOOD_MAX = 2_000


class Past(Struct):
    widths: list[PictureRow]  # the latest ones
    widths_total: int
    stood: list[PictureRow]  # who waited, sample by sample


def past_of(journal: Iterable[tuple[int, AnyEvent]], until_seq: int, samples: Iterable[SeriesSample]) -> Past:
    widths: deque[PictureRow] = deque(maxlen=WIDTHS_MAX)
    total = 0
    for seq, event in journal:
        if seq > until_seq:
            break
        if isinstance(event, WidthMoved):
            widths.append(width_row(event))
            total += 1
    stood = [_stood(sample) for sample in samples]
    while len(stood) > STOOD_MAX:
        del stood[::2]
    return Past(list(widths), total, stood)


def _stood(sample: SeriesSample) -> PictureRow:
    ready = sum(run.tasks.get(str(TaskState.READY), 0) for run in sample.runs.values())
    oldest_s = max((run.queue_age_s for run in sample.runs.values()), default=0.0)
    runs = {name: run.queue_age_s for name, run in sample.runs.items() if run.queue_age_s}
    return {"at": sample.at, "oldest_s": oldest_s, "runs": runs, "ready": ready, "ceiling": None}
