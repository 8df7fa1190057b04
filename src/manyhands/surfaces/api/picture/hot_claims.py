"""The hottest claims: files that are held now, ordered by how many unfinished tasks want to write them."""

from manyhands.core.book import Book
from manyhands.core.claims import each_claim
from manyhands.core.state import Record
from manyhands.surfaces.api.picture.picture_rows import PictureRow

SHOWN_MAX = 20
HOLDERS_MAX = 20


def hot_claims(book: Book) -> list[PictureRow]:
    held: dict[tuple[str, str], list[Record]] = {}
    for running in book.running.values():
        for mode, pattern in each_claim(running.claims):
            held.setdefault((mode, pattern), []).append(running.record)
    rows: list[PictureRow] = []
    for (mode, pattern), holders in held.items():
        taken = len(holders) if mode == "write" else 0
        waiting = max(0, book.ready.demand(pattern) - taken)
        shown = holders[:HOLDERS_MAX]
        told = {"holders": [record.task.id for record in shown], "runs": [record.run for record in shown]}
        rows.append({"claim": pattern, "mode": mode, **told, "waiting": waiting})
    rows.sort(key=lambda row: (-row["waiting"], -len(row["holders"]), row["claim"]))
    return rows[:SHOWN_MAX]
