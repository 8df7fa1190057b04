"""The vault of a store: values in files of their own, fingerprints in their place."""

import os
import stat
from pathlib import Path

import pytest

from manyhands.core.events import TaskEdited, TasksSubmitted, Woke
from manyhands.core.values.task import Task
from manyhands.engine.store.contract.env_vault import EnvVault, ValueMissing, carry_over

TASK = Task(id="a", run=("true",), env={"API_KEY": "canary", "HOME": "ü\udcff", "EMPTY": ""})


def test_a_sealed_task_has_names_and_no_values_and_can_be_opened_by_another_process(tmp_path: Path) -> None:
    sealed = EnvVault(tmp_path).sealed(TASK)
    assert sealed.env is not None
    assert list(sealed.env) == ["API_KEY", "HOME", "EMPTY"]
    assert "canary" not in str(sealed)
    assert EnvVault(tmp_path).opened(sealed) == TASK


def test_equal_values_have_equal_seals_in_one_store_and_others_in_another(tmp_path: Path) -> None:
    one, other = EnvVault(tmp_path / "one"), EnvVault(tmp_path / "other")
    assert one.sealed(TASK) == EnvVault(tmp_path / "one").sealed(TASK) == one.sealed(one.sealed(TASK))
    assert one.sealed(TASK) != other.sealed(TASK)
    changed = Task(id="a", run=("true",), env={**(TASK.env or {}), "API_KEY": "Canary"})
    assert one.sealed(TASK) != one.sealed(changed)


def test_a_value_that_is_gone_is_named(tmp_path: Path) -> None:
    sealed = EnvVault(tmp_path).sealed(TASK)
    for value in (tmp_path / "env").iterdir():
        if value.read_bytes() == b"canary":
            value.unlink()
    with pytest.raises(ValueMissing, match="API_KEY"):
        EnvVault(tmp_path).opened(sealed)
    EnvVault(tmp_path).sealed(TASK)
    assert EnvVault(tmp_path).opened(sealed) == TASK


def test_a_value_that_a_task_replaced_by_a_pipe_is_missing(tmp_path: Path) -> None:
    sealed = EnvVault(tmp_path).sealed(Task(id="a", env={"API_KEY": "canary"}))
    (value,) = (file for file in (tmp_path / "env").iterdir() if file.name != "key")
    value.unlink()
    os.mkfifo(value)
    with pytest.raises(ValueMissing, match="API_KEY"):
        EnvVault(tmp_path).opened(sealed)


def test_events_that_bring_tasks_are_sealed_and_others_stay_as_they_are(tmp_path: Path) -> None:
    vault = EnvVault(tmp_path)
    plain = Task(id="b")
    assert vault.sealed_event(TasksSubmitted(0.0, "r", (TASK, plain))) == TasksSubmitted(
        0.0, "r", (vault.sealed(TASK), plain)
    )
    assert vault.sealed_event(TaskEdited(0.0, "r", TASK)) == TaskEdited(0.0, "r", vault.sealed(TASK))
    for event in (Woke(0.0), TasksSubmitted(0.0, "r", (plain,)), TaskEdited(0.0, "r", plain)):
        assert vault.sealed_event(event) is event


def test_an_old_journal_with_values_in_it_still_starts_its_tasks(tmp_path: Path) -> None:
    assert EnvVault(tmp_path).opened(TASK) == TASK
    assert not (tmp_path / "env").exists()


def test_only_the_owner_can_read_it_and_a_copy_too(tmp_path: Path) -> None:
    sealed = EnvVault(tmp_path / "old").sealed(TASK)
    carry_over(tmp_path / "old", tmp_path / "new")
    assert EnvVault(tmp_path / "new").opened(sealed) == TASK
    for directory in (tmp_path / "old" / "env", tmp_path / "new" / "env"):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in directory.iterdir()} == {0o600}
