"""No branch reads a sentence that is meant for people: whatever decides is a value of its own.

Sentences are found by the names of the fields and variables that hold them. What the law lets pass is listed
below with its reason, and nothing else is: an exception that is no longer needed fails too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import manyhands

SOURCE = Path(manyhands.__file__).parent

#: Fields and variables that hold words for people, or once did.
WORDS = frozenset(
    {
        *("cause", "why", "reason", "detail", "says", "said", "message", "hint", "note", "remark", "trouble"),
        *("headline", "title", "label", "labels", "paused", "source"),
        *("stop_detail", "start_reason", "workers_why", "why_tainted"),
    }
)
#: Fields that once held words and are values now: they may be compared with each other, not with a text.
VALUES = frozenset({"held_by", "kept_by", "barrier", "by", "origin", "purpose"})
#: Methods that look into a text.
LOOKS = frozenset(
    {
        *("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit"),
        *("find", "rfind", "index", "count", "lower", "casefold"),
    }
)
#: The one place that knows the sentences of old journals.
TRANSLATOR = "engine/store/contract/old_journals.py"

_PATH = "a path, or the name of an eval: how a run is found again"
_LABEL = "labels are input: a documented prefix in a plan or an issue"
_CODE = "not words: names of fields, exceptions, kinds of endings or numbers"
_FOREIGN = "text of another program, which says it in no other way"
_SHOWN = "only what is shown depends on it"
ALLOWED = {
    "apps/evals/evaluation.py: run.source == spec_file": _PATH,
    "apps/evals/listening.py: run.source != self._eval_id": _PATH,
    "apps/serve/service.py: source in sources[:place]": _PATH,
    "engine/run_opening.py: run.source == source": _PATH,
    "surfaces/verbs/store_view.py: run.source.split(', ')": _PATH,
    "surfaces/verbs/store_view.py: run.source.endswith('/')": _PATH,
    "sources/trackers/github_api.py: said.lower()": _FOREIGN,
    "hosts/ray/node_placement.py: label.removeprefix(NODE_LABEL)": _LABEL,
    "hosts/ray/node_placement.py: label.startswith(NODE_LABEL)": _LABEL,
    "hosts/ray/ray_executor.py: label.startswith(NODE_LABEL)": _LABEL,
    "sources/beads/issue_kinds.py: label.lower()": _LABEL,
    "apps/evals/figures/pairs.py: reason in reasons": _CODE,
    "core/intake.py: why": _CODE,
    "surfaces/review/moments.py: why": _CODE,
    "hosts/executors/openai_errors.py: cause not in causes": _CODE,
    "worker/backends/out_of_memory.py: cause not in seen": _CODE,
    "worker/memory/duration.py: said > 0": _CODE,
    "apps/evals/scoring/pairwise.py: said == 'tie'": _FOREIGN,
    "apps/evals/scoring/pairwise.py: said == str(place)": _FOREIGN,
    "hosts/agents/acp_reading.py: message.removeprefix(_NO_REASON)": _FOREIGN,
    "sources/beads/beads_ready.py: word in reason": _FOREIGN,
    "sources/beads/bd.py: note not in issue.notes": _FOREIGN,
    "readers/yaml_nodes.py: 'tag' in reason": _FOREIGN,
    "apps/serve/write_back.py: tail not in why": _SHOWN,
    "engine/probing.py: trouble != self._troubles.get(name, '')": _SHOWN,
    "engine/worker_scaling.py: there.trouble != self._trouble": _SHOWN,
    "hosts/executors/openai_executor.py: self._key not in ending.detail": _SHOWN,
    "surfaces/verbs/task_verbs.py: task.title.lower()": _SHOWN,
    "surfaces/review/task_tree.py: node.title.split()": _SHOWN,
}


def test_no_branch_reads_words_for_people() -> None:
    found = {f"{place}: {code}" for place, code in _readings()}
    assert found - set(ALLOWED) == set(), "give it a value to decide by"
    assert set(ALLOWED) - found == set(), "these exceptions are not needed"


def _readings() -> Iterator[tuple[str, str]]:
    for file in sorted(SOURCE.rglob("*.py")):
        place = str(file.relative_to(SOURCE))
        if place != TRANSLATOR:
            for node in ast.walk(ast.parse(file.read_text())):
                if _reads_words(node):
                    yield place, ast.unparse(node.subject if isinstance(node, ast.Match) else node)


def _reads_words(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            operands = [node.left, *node.comparators]
            if all(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
                return False
            has_text = any(_is_text(one) for one in operands)
            return any(_is_named(one, WORDS) or (has_text and _is_named(one, VALUES)) for one in operands)
        case ast.Call(func=ast.Attribute(value=value, attr=method)):
            return method in LOOKS and _is_named(value, WORDS | {"held_by", "kept_by"})
        case ast.Match():
            return _is_named(node.subject, WORDS)
        case _:
            return False


def _is_named(node: ast.AST, names: frozenset[str]) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in names


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_the_page_reads_no_words_either() -> None:
    words = r"(\b(why|reason|detail|paused|headline|title|source)|\.line)\b"  # `.line`: what a bar printed last
    looks = re.compile(words + r"(\?)?(\.(startsWith|endsWith|match|indexOf)| ===? [\"'`])")
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted((SOURCE / "surfaces/page/js").glob("*.js"))
        for line in file.read_text().splitlines()
        if looks.search(line)
    ]
    assert found == []
    assert looks.search('if (host.paused === "no longer in the config") return;')
    assert looks.search('parts.out.hidden = bar.line.startsWith("→");')


def test_the_scan_sees_what_it_is_for() -> None:
    bad = (
        "record.cause.why.startswith('in the backlog: ')",
        "host.paused != GONE",
        "host.kept_by.endswith(' of run x')",
        "ADDED in task.labels",
        "run.source == 'manyhands add'",
        "outcome.headline.partition(' ')",
        "host.kept_by == f'family {name}'",
        "record.cause.by == 'backlog'",
    )
    assert all(_reads_words(ast.parse(code, mode="eval").body) for code in bad)
    good = (
        "record.cause.by is CausedBy.BACKLOG",
        "host.paused is None",
        "record.origin in (HAND, STEP)",
        "host.kept_by != group.key.barrier",
    )
    assert not any(_reads_words(ast.parse(code, mode="eval").body) for code in good)
