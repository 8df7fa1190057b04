"""Reads promptfoo results: a test is a case, `--repeat` gives replications, a provider with a prompt is an arm."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manyhands.apps.evals.exchange.foreign_results import FoundArm, FoundTrial
from manyhands.errors import UsageError

#: The `failureReason` of a result that is an error instead of a failed assertion.
ERROR = 2
#: The default of `maxConcurrency` in promptfoo.
CONCURRENCY = 4
CASE_CHARACTERS = 60


def promptfoo_arms(path: Path, content: Mapping[str, Any]) -> list[FoundArm]:
    results = content["results"]
    rows = results.get("results") if isinstance(results, dict) else results
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"`{path}` has no results", "write them with `promptfoo eval --output FILE.json`")
    try:
        ordered = sorted(rows, key=lambda row: (row.get("testIdx", 0), row.get("promptIdx", 0)))
        options = (content.get("config") or {}).get("evaluateOptions") or {}
        return _arms(path, ordered, int(options.get("maxConcurrency") or CONCURRENCY))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UsageError(f"`{path}` is not a promptfoo result file that can be read: {problem!r}") from problem


def _arms(path: Path, rows: list[dict[str, Any]], at_once: int) -> list[FoundArm]:
    providers = {_provider(row) for row in rows}
    prompts = {_prompt(row) for row in rows}
    seen: dict[str, dict[str, int]] = {}
    found: dict[str, list[FoundTrial]] = {}
    cases = _case_names(rows)
    places: dict[tuple[str, int], int] = {}
    for row in rows:
        arm = _arm_name(row, len(providers) > 1, len(prompts) > 1)
        case = cases[_identity(row)]
        turns = seen.setdefault(arm, {})
        turns[case] = turns.get(case, 0) + 1
        place = (case, turns[case])
        places[place] = places.get(place, 0) + 1
        found.setdefault(arm, []).append(_trial(row, case, turns[case], places[place]))
    if all(one.scores["score"] == one.scores["passed"] for trials in found.values() for one in trials):
        # The same scorer twice would count as two comparisons in the correction.
        for trials in found.values():
            for one in trials:
                del one.scores["score"]
    return [FoundArm((arm, f"{arm} {path.stem}"), tuple(trials), True, at_once) for arm, trials in found.items()]


def _trial(row: Mapping[str, Any], case: str, replication: int, position: int) -> FoundTrial:
    failed = row.get("failureReason") == ERROR or ("failureReason" not in row and bool(row.get("error")))
    response = row.get("response") or {}
    usage = response.get("tokenUsage") or row.get("tokenUsage") or {}
    cost = row.get("cost", response.get("cost"))
    scores: dict[str, float | None] = {"passed": float(bool(row.get("success"))), "score": _number(row.get("score"))}
    scores |= {name: _number(value) for name, value in (row.get("namedScores") or {}).items()}
    return FoundTrial(
        case=case,
        replication=replication,
        scores=scores,
        state="infrastructure" if failed else "scored",
        ending="failed" if failed else "done",
        detail=str(row.get("error") or "")[:500] if failed else "",
        duration_s=float(row.get("latencyMs") or 0) / 1000,
        tokens_in=int(usage.get("prompt") or 0),
        tokens_out=int(usage.get("completion") or 0),
        cost=None if cost is None else float(cost),
        position=position,
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _provider(row: Mapping[str, Any]) -> str:
    provider = row.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id") or "provider")
    return str(provider or "provider")


def _prompt(row: Mapping[str, Any]) -> str:
    prompt = row.get("prompt")
    label = (prompt.get("label") or prompt.get("raw")) if isinstance(prompt, dict) else prompt
    return " ".join(str(label or f"prompt {row.get('promptIdx', 0) + 1}").split())[:CASE_CHARACTERS]


def _arm_name(row: Mapping[str, Any], by_provider: bool, by_prompt: bool) -> str:
    if by_prompt and by_provider:
        return f"{_provider(row)} · {_prompt(row)}"
    return _prompt(row) if by_prompt else _provider(row)


def _identity(row: Mapping[str, Any]) -> str:
    """Equal for tests that repeat each other: with `--repeat` only the number differs."""
    test = row.get("testCase") or {}
    told = {"vars": row.get("vars") or test.get("vars"), "description": test.get("description")}
    told["assert"] = test.get("assert")
    return json.dumps(told, sort_keys=True, default=str)


def _case_names(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The description, or the values of the variables. Equal names get a number."""
    names: dict[str, str] = {}
    for row in rows:
        identity = _identity(row)
        if identity in names:
            continue
        test = row.get("testCase") or {}
        variables = row.get("vars") or test.get("vars") or {}
        told = test.get("description") or ", ".join(str(value) for value in variables.values())
        name = " ".join(str(told).split())[:CASE_CHARACTERS] or f"test {len(names) + 1}"
        names[identity] = f"{name} ({len(names) + 1})" if name in names.values() else name
    return names
