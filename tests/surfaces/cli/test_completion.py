"""What a shell offers: from the declarations and the store, by the words typed so far. Topics have their help."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from manyhands.surfaces.cli.completing import completions
from manyhands.surfaces.cli.help_topics import TOPICS
from manyhands.surfaces.cli.main import NOUNS, answer
from surfaces.cli.console import Console, sh, shell_host


def offered(*words: str) -> list[str]:
    return [line.partition("\t")[0] for line in completions(list(words))]


def test_nouns_verbs_options_and_choices_are_offered() -> None:
    assert offered("ta") == ["task"]
    assert set(offered("")) == set(NOUNS)
    assert "--store" in offered("--st")
    assert offered("task", "ca") == ["cancel"]
    assert {"retry", "resume"} <= set(offered("--store", "x", "task", "re"))
    assert {"--concurrency", "-j", "--follow"} <= set(offered("run", "-"))
    assert offered("task", "--output", "") == ["table", "json", "ids"]
    assert offered("eval", "run", "--he") == ["--help"]


def test_where_a_file_or_a_free_text_stands_nothing_is_offered() -> None:
    assert offered("run", "plans/") == []
    assert offered("run", "--concurrency", "") == []
    assert offered("nothing", "") == []
    assert offered("task", "--wrong", "x", "") == []


def test_tasks_runs_and_hosts_come_from_the_store(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    console.config(shell_host(2, "desk"))
    console.plan([sh("good", "true"), sh("great", "true")])
    assert console.run("run", "plan.jsonl").code == 0
    monkeypatch.chdir(console.directory)
    assert offered("task", "show", "g") == ["good", "great"]
    assert offered("task", "show", "--run", "") == ["plan-1"]
    assert offered("host", "pause", "") == ["desk"]
    assert offered("review", "p") == ["plan-1"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(tmp_path: Path) -> None:
    script = (
        'eval "$(manyhands completion bash)"\n'
        "COMP_WORDS=(manyhands host pa); COMP_CWORD=2; _manyhands; echo ${COMPREPLY[@]}\n"
        "COMP_WORDS=(manyhands ''); COMP_CWORD=1; _manyhands; echo ${#COMPREPLY[@]}\n"
    )
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env=env, check=True)
    assert done.stdout.split() == ["pause", str(len(NOUNS))]


def test_help_explains_commands_and_topics(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(["help", "task", "log"]) == 0
    assert capsys.readouterr().out.startswith("Usage: manyhands task log")
    assert answer(["help"]) == 0
    listed = capsys.readouterr().out
    for topic, text in TOPICS.items():
        assert f"  {topic} " in listed
        assert answer(["help", topic]) == 0
        shown = capsys.readouterr().out
        assert " ".join(shown.split()) == " ".join(text.split())
        assert max(map(len, shown.splitlines())) <= 100


def test_a_plural_is_understood(console: Console) -> None:
    console.config(shell_host(1, "desk"))
    assert console.run("hosts", "-o", "ids").out == "desk\n"
