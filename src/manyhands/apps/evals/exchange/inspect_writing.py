"""Writes a record as Inspect AI logs, one for each arm. `inspect view` shows them, `read_eval_log` reads them."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from math import fsum, isfinite, sqrt
from pathlib import Path
from typing import Any

from manyhands import __version__
from manyhands.apps.evals.figures.estimate import mean_of, sd_of
from manyhands.apps.evals.figures.pairs import why_left_out
from manyhands.apps.evals.spec.eval_types import EvalRecord, TrialOutcome

LOG_VERSION = 2
STATUS = {
    "finished": "success",
    "decided": "success",
    "failed_fast": "error",
    "aborted": "cancelled",
    "stopped": "started",
}


def write_inspect_logs(record: EvalRecord, directory: Path) -> list[Path]:
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for place, arm in enumerate(record.spec.arms):
        # Names of arms may differ only in characters that a file name cannot have.
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{record.id}_{place + 1}_{arm.name}")
        path = directory / f"{name}.json"
        path.write_text(json.dumps(inspect_log(record, arm.name), indent=2, ensure_ascii=False), encoding="utf-8")
        written.append(path)
    return written


def inspect_log(record: EvalRecord, arm: str) -> dict[str, Any]:
    outcomes = [one for one in record.outcomes if one.arm == arm and one.state in ("scored", "infrastructure")]
    spec = record.spec
    usage = {arm: _usage(outcomes)}
    return {
        "version": LOG_VERSION,
        "status": STATUS[record.state],
        "eval": {
            "eval_id": f"{record.id}-{arm}",
            "run_id": record.id,
            "created": _time(record.started_at),
            "task": spec.name,
            "task_id": f"{record.id}-{arm}",
            "task_version": 0,
            "dataset": {
                "name": spec.name,
                "samples": len(spec.cases),
                "sample_ids": [case.name for case in spec.cases],
                "shuffled": False,
            },
            # Not a model of Inspect AI: an arm may be any command.
            "model": f"manyhands/{arm}",
            "config": {"epochs": spec.replications, "max_samples": record.concurrency.n},
            "packages": {"manyhands": __version__},
            "metadata": {"manyhands": {"arm": arm, "same_as": spec.arm(arm).same_as, "interleaved": spec.interleave}},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": _results(record, outcomes),
        "stats": {
            "started_at": _time(record.started_at),
            "completed_at": _time(record.ended_at),
            "model_usage": usage,
        },
        "samples": [_sample(record, arm, outcome) for outcome in outcomes],
    }


def _sample(record: EvalRecord, arm: str, outcome: TrialOutcome) -> dict[str, Any]:
    case = record.spec.case(outcome.case)
    sample: dict[str, Any] = {
        "id": outcome.case,
        "epoch": outcome.replication,
        "input": case.prompt or "\n".join(case.prompts),
        "target": "" if case.expect is None else str(case.expect),
        "messages": [],
        "output": {"model": f"manyhands/{arm}", "choices": [], "completion": ""},
        "scores": _scores(outcome, [scorer.name for scorer in record.spec.scorers]),
        "metadata": {"cluster": outcome.cluster, "position": outcome.position, "run": outcome.run},
        "store": {},
        "events": [],
        "model_usage": {arm: _usage([outcome])},
        "total_time": outcome.duration_s,
        "working_time": outcome.duration_s,
        "uuid": f"{record.id}/{arm}/{outcome.case}/{outcome.replication}",
        "attachments": {},
    }
    if outcome.started_at is not None and outcome.ended_at is not None:
        sample |= {"started_at": _time(outcome.started_at), "completed_at": _time(outcome.ended_at)}
    if outcome.state == "infrastructure":
        last = outcome.sessions[-1] if outcome.sessions else None
        why = f"{last.ending} {last.detail}".strip() if last else "infrastructure"
        sample["error"] = {"message": why, "traceback": "", "traceback_ansi": ""}
    if outcome.timed_out:
        sample["limit"] = {"type": "time", "limit": record.spec.timeout}
    if outcome.tainted:
        when = _time(outcome.ended_at or record.ended_at)
        sample["invalidation"] = {
            "timestamp": when,
            "author": "manyhands",
            "reason": outcome.why_tainted,
            "metadata": {},
        }
    return sample


def _scores(outcome: TrialOutcome, scorers: Sequence[str]) -> dict[str, Any]:
    """NaN if the scorer gave no score, as Inspect AI writes it."""
    scores: dict[str, Any] = {}
    for name in scorers:
        if name not in outcome.scores and name not in outcome.score_errors:
            continue
        value = outcome.scores.get(name)
        usable = value is not None and isfinite(value)
        scores[name] = {"value": value if usable else float("nan"), "history": []}
        if name in outcome.score_errors:
            scores[name]["metadata"] = {"error": outcome.score_errors[name]}
    return scores


def _results(record: EvalRecord, outcomes: Sequence[TrialOutcome]) -> dict[str, Any]:
    scores = []
    for scorer in record.spec.scorers:
        values = [one.scores[scorer.name] or 0.0 for one in outcomes if why_left_out(one, scorer.name) is None]
        metrics = {}
        if values:
            spread = sd_of(values)
            metrics["mean"] = {"name": "mean", "value": mean_of(values), "params": {}}
            if spread is not None:
                metrics["stderr"] = {"name": "stderr", "value": spread / sqrt(len(values)), "params": {}}
        scores.append({"name": scorer.name, "scorer": scorer.name, "params": {}, "metrics": metrics})
    done = sum(one.state == "scored" for one in outcomes)
    return {"total_samples": len(outcomes), "completed_samples": done, "scores": scores}


def _usage(outcomes: Sequence[TrialOutcome]) -> dict[str, Any]:
    tokens_in, tokens_out = sum(one.tokens_in for one in outcomes), sum(one.tokens_out for one in outcomes)
    usage: dict[str, Any] = {"input_tokens": tokens_in, "output_tokens": tokens_out}
    usage["total_tokens"] = tokens_in + tokens_out
    costs = [one.cost for one in outcomes if one.cost is not None]
    return usage | ({"total_cost": fsum(costs)} if costs else {})


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()
