"""Reads Inspect AI logs: a log is an arm, a sample is a case, an epoch is a replication."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from manyhands.apps.evals.exchange.foreign_results import FoundArm, FoundTrial
from manyhands.errors import UsageError
from manyhands.install_hints import install_hint

#: The same numbers as `value_to_float` of Inspect AI gives.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
TIME_LIMITS = ("time", "working")
SAMPLES = "samples/"


def read_eval_archive(path: Path) -> dict[str, Any]:
    """Reads a `.eval` file, a zip of JSON files, as one document like the other format."""
    archives = _zipfile()
    try:
        with archives.ZipFile(path) as archive:
            if "header.json" not in archive.namelist():
                raise UsageError(f"`{path}` has no header: its eval was not finished", "finish it in Inspect AI")
            header = json.loads(archive.read("header.json"))
            names = sorted(name for name in archive.namelist() if name.startswith(SAMPLES))
            return {**header, "samples": [json.loads(archive.read(name)) for name in names]}
    except OSError as problem:
        raise UsageError(f"cannot read `{path}`: {problem.strerror or problem}") from problem
    except (archives.BadZipFile, NotImplementedError, ValueError) as problem:
        raise UsageError(
            f"`{path}` is not an Inspect AI log: {problem}", f"`{install_hint('evals')}` reads compressed ones"
        ) from problem


def _zipfile() -> Any:
    """New logs are compressed with zstd, which `zipfile` can only read from Python 3.14 on."""
    try:
        return import_module("backports.zstd.zipfile")
    except ImportError:
        return import_module("zipfile")


def inspect_arm(path: Path, log: Mapping[str, Any]) -> FoundArm:
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise UsageError(f"`{path}` has no samples", "run the eval without `--no-log-samples`")
    about = log["eval"]
    model = str(about.get("model", "model"))
    solver = str(about.get("solver") or about.get("task") or "")
    # Logs written by `inspect_writing` keep their name, and whether arms took turns.
    own = (about.get("metadata") or {}).get("manyhands") or {}
    names: tuple[str, ...] = (model, f"{model} {solver}", path.stem)
    try:
        trials = tuple(sorted((_trial(sample) for sample in samples), key=_in_order_of(about)))
    except (KeyError, TypeError, ValueError) as problem:
        raise UsageError(f"`{path}` is not an Inspect AI log that can be read: {problem!r}") from problem
    if own:
        names = (str(own["arm"]), *names)
    took_turns, same_as = bool(own.get("interleaved")), str(own.get("same_as", ""))
    return FoundArm(names, trials, took_turns, _most_at_once(trials), same_as)


def _in_order_of(about: Mapping[str, Any]) -> Callable[[FoundTrial], tuple[int, int]]:
    """The order of the dataset, because samples are logged as they end."""
    ids = (about.get("dataset") or {}).get("sample_ids") or []
    places = {str(one): place for place, one in enumerate(ids)}
    return lambda trial: (places.get(trial.case, len(places)), trial.replication)


def _most_at_once(trials: Sequence[FoundTrial]) -> int:
    """Computed from the times: at best the log has what was allowed, not what actually ran."""
    ends = [(one.ended_at, -1) for one in trials if one.started_at is not None and one.ended_at is not None]
    ends += [(one.started_at, 1) for one in trials if one.started_at is not None and one.ended_at is not None]
    most = now = 0
    for _, change in sorted(ends):
        now += change
        most = max(most, now)
    return max(most, 1)


def _trial(sample: Mapping[str, Any]) -> FoundTrial:
    scores: dict[str, float | None] = {}
    errors: dict[str, str] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        for name, value in _values(scorer, score.get("value")):
            scores[name] = number_of(value)
            if scores[name] is None and not _is_not_applicable(value):
                errors[name] = f"`{value}` is not a number and not a grade"
            if (score.get("metadata") or {}).get("error"):
                errors[name] = str(score["metadata"]["error"])
    usage = (sample.get("model_usage") or {}).values()
    costs = [one["total_cost"] for one in usage if one.get("total_cost") is not None]
    error = sample.get("error")
    invalid = sample.get("invalidation")
    metadata = sample.get("metadata") or {}
    return FoundTrial(
        case=str(sample["id"]),
        replication=int(sample["epoch"]),
        scores=scores,
        score_errors=errors,
        # An exception comes from the model server, the sandbox or the harness: neither pass nor fail.
        state="infrastructure" if error else "scored",
        ending=_ending(error, sample.get("limit")),
        detail=str(error.get("message", ""))[:500] if error else "",
        prompt=sample["input"] if isinstance(sample.get("input"), str) else "",
        cluster=str(metadata.get("cluster", "")),
        started_at=_seconds(sample.get("started_at")),
        ended_at=_seconds(sample.get("completed_at")),
        duration_s=float(sample.get("working_time") or sample.get("total_time") or 0.0),
        tokens_in=sum(int(one.get("input_tokens", 0)) for one in usage),
        tokens_out=sum(int(one.get("output_tokens", 0)) for one in usage),
        cost=sum(costs) if costs else None,
        why_tainted=str(invalid.get("reason") or "invalidated") if invalid else "",
        position=int(metadata.get("position", 0)),
    )


def _ending(error: Any, limit: Any) -> Literal["done", "failed", "timed_out"]:
    if error:
        return "failed"
    return "timed_out" if limit and limit.get("type") in TIME_LIMITS else "done"


def _values(scorer: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{scorer}/{key}", inner
    else:
        yield scorer, value


def number_of(value: Any) -> float | None:
    """None if it is neither a number nor a grade of Inspect AI."""
    if isinstance(value, bool | int | float):
        return float(value) if isfinite(value) else None
    if not isinstance(value, str):
        return None
    if value in GRADES or value.lower() in GRADES:
        return GRADES.get(value, GRADES.get(value.lower()))
    try:
        return float(value) if isfinite(float(value)) else None
    except ValueError:
        return None


def _is_not_applicable(value: Any) -> bool:
    """Inspect AI writes NaN if there is no score."""
    return value is None or (isinstance(value, float) and not isfinite(value))


def _seconds(time: Any) -> float | None:
    return datetime.fromisoformat(time).timestamp() if isinstance(time, str) and time else None
