"""Finds out which tool wrote a result file, and reads all files as one record."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyhands.apps.evals.exchange.foreign_results import FoundArm, record_of
from manyhands.apps.evals.exchange.inspect_reading import inspect_arm, read_eval_archive
from manyhands.apps.evals.exchange.promptfoo import promptfoo_arms
from manyhands.apps.evals.spec.eval_types import EvalRecord
from manyhands.errors import UsageError

KNOWN = "Inspect AI logs (.json, .eval) and files of `promptfoo eval --output FILE.json` can be read"


def read_results(paths: Sequence[Path], baseline: str = "") -> EvalRecord:
    """Each Inspect AI log is an arm, and so is each provider and prompt of promptfoo. The first is the baseline."""
    if not paths:
        raise UsageError("no result file is named", KNOWN)
    arms: list[FoundArm] = []
    names: list[str] = []
    tools: set[str] = set()
    for path in paths:
        tool, name, found = _read(path)
        arms += found
        names.append(name)
        tools.add(tool)
    source = ", ".join(path.name for path in paths)
    warnings = [f"imported from {' and '.join(sorted(tools))}: {source}"]
    if "Inspect AI" in tools and len(arms) > 1:
        warnings.append("Inspect AI ran each arm as a separate eval. Samples that ended in an error count in no arm")
    return record_of(names[0] or "imported", source, arms, baseline, warnings)


def _read(path: Path) -> tuple[str, str, list[FoundArm]]:
    """(tool, name of the eval, its arms)"""
    content = read_eval_archive(path) if path.suffix == ".eval" else _json(path)
    if isinstance(content, dict) and isinstance(content.get("eval"), dict) and "samples" in content:
        return "Inspect AI", str(content["eval"].get("task", "")), [inspect_arm(path, content)]
    if isinstance(content, dict) and isinstance(content.get("results"), dict | list):
        return "promptfoo", _promptfoo_name(content), promptfoo_arms(path, content)
    raise UsageError(f"`{path}` is not a result file of a known tool", KNOWN)


def _json(path: Path) -> Any:
    try:
        # Not msgspec: other tools write NaN, which is not JSON.
        return json.loads(path.read_bytes())
    except OSError as problem:
        raise UsageError(f"cannot read `{path}`: {problem.strerror or problem}") from problem
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"`{path}` is not JSON: {problem}", KNOWN) from problem


def _promptfoo_name(content: dict[str, Any]) -> str:
    config = content.get("config")
    told = config.get("description") if isinstance(config, dict) else None
    return str(told or content.get("evalId") or "promptfoo")
