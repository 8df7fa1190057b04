"""The compiled rules of a struct give the same answer as the rules that the full reader checks one by one."""

import pytest

from manyhands.core.values.task import Task
from manyhands.readers.compiled_rules import compiled_rules
from manyhands.readers.problems import Problems, sheet_of_row
from manyhands.sources.plans.task_rows import task_from

#: Every character up to the general punctuation and symbols, and some from beyond.
CHARACTERS = [chr(code) for code in (*range(0x3100), 0xFEFF, 0xFFF9, 0xFFFB, 0x1F600) if not 0xD800 <= code < 0xE000]
keeps_rules = compiled_rules(Task)


def reader_takes(row: dict[str, object]) -> bool:
    return task_from(row, sheet_of_row("p.jsonl", 1, Problems())) is not None


@pytest.mark.parametrize("field", ["id", "kind", "family"])
def test_a_name_with_any_character_is_judged_alike(field: str) -> None:
    differ = []
    for character in CHARACTERS:
        row: dict[str, object] = {"id": "a", "run": ["true"], field: f"a{character}b"}
        task = Task(**{**row, "run": ("true",)})  # type: ignore[arg-type]
        if keeps_rules(task) != reader_takes(row):
            differ.append(character)
    assert differ == []


@pytest.mark.parametrize("name", ["", ".", "..", "...", "a" * 200, "a" * 201, "lint-7", "größer", "a b", "a/b", "a*"])
def test_a_name_of_any_form_is_judged_alike(name: str) -> None:
    assert keeps_rules(Task(name, run=("true",))) == reader_takes({"id": name, "run": ["true"]})
    assert keeps_rules(Task("a", kind=name, run=("true",))) == reader_takes({"id": "a", "kind": name, "run": ["true"]})


def test_an_answer_about_a_text_is_not_passed_to_another_field() -> None:
    assert keeps_rules(Task("a", family="a*", run=("true",)))
    assert not keeps_rules(Task("a", kind="a*", run=("true",)))
