"""What a task wants remembered is read line by line, and nothing it writes can cost the attempt its ending."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from manyhands.core.values.ending import DONE, Note, NoteKind
from manyhands.hosts.executors.said_notes import CHARACTERS_MAX, NOTES_FILE, NOTES_MAX, notes_in, with_notes


def test_a_note_begins_with_its_word_and_goes_on_until_the_next() -> None:
    text = "ignored\nDecision: keep it\n  because two\nimport it\nquestion: may it?\nhandoff:\n\nlesson: a: b\n"
    assert notes_in(text) == [
        Note(NoteKind.DECISION, "keep it because two import it"),
        Note(NoteKind.QUESTION, "may it?"),
        Note(NoteKind.LESSON, "a: b"),
    ]


@given(st.text(alphabet=st.sampled_from("decisonqut: \n\u2028\0é"), max_size=400))
def test_whatever_it_holds_the_notes_are_bounded_and_on_one_line(text: str) -> None:
    for note in notes_in(text + "\nlesson: " + text):
        assert 0 < len(note.text) <= CHARACTERS_MAX
        assert "\n" not in note.text


def test_there_are_at_most_so_many_and_each_is_cut() -> None:
    notes = notes_in(f"outcome: {'x' * 5_000}\n" * (NOTES_MAX + 7))
    assert len(notes) == NOTES_MAX
    assert {len(note.text) for note in notes} == {CHARACTERS_MAX}


def test_a_pipe_or_a_link_in_its_place_is_named_in_the_output(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    log.touch()
    os.mkfifo(tmp_path / NOTES_FILE)
    assert with_notes(DONE, tmp_path, log) == DONE
    assert f"{NOTES_FILE} is left out of account" in log.read_text()
