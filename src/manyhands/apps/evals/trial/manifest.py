"""What an eval was begun with, and the scores of a trial, as files."""

from msgspec import Struct

from manyhands.apps.evals.spec.eval_types import Concurrency, Spec
from manyhands.errors import Conflict


class Manifest(Struct, frozen=True):
    id: str
    spec: Spec
    source: str  # the spec's file
    started_at: float
    concurrency: Concurrency | None = None  # None: not found yet
    allow_tampering: bool = False
    fail_fast: bool = False


class Scores(Struct, frozen=True):
    scores: dict[str, float | None]
    errors: dict[str, str] = {}


def check_same(manifest: Manifest, spec: Spec, concurrency: int | str | None) -> None:
    """An eval continues as it was begun, or not at all."""
    if manifest.spec != spec:
        raise Conflict(
            f"the spec has changed since eval {manifest.id} was left unfinished",
            "`--fresh` begins a new eval with the spec as it is now",
        )
    if concurrency is not None and manifest.concurrency is not None and concurrency != manifest.concurrency.n:
        raise Conflict(
            f"eval {manifest.id} was begun with concurrency {manifest.concurrency.n}: it is part of what is measured",
            "leave out `--concurrency` to continue it, or begin a new eval with `--fresh`",
        )
