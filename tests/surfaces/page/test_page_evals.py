"""`eval --follow`: scores by case and arm as they come, the interval of the lift, and transcripts side by side."""

import re
from pathlib import Path
from typing import Any

import pytest

from surfaces.cli.console import Console, shell_host
from surfaces.page.browsing import bring_axe, looked_at, open_page, schemes, until

pytestmark = pytest.mark.xdist_group("page")

#: The last case waits for a file.
SPEC = """
[eval]
replications = 1
[[arm]]
name = "plain"
run = ["sh", "{spec}/work", "plain {prompt}"]
[[arm]]
name = "better"
run = ["sh", "{spec}/work", "better {prompt}"]
[[scorer]]
name = "right"
type = "contains"
file = "out.txt"
text = "right"
""" + "".join(f'[[case]]\nname = "{name}"\nprompt = "{name}"\n' for name in ("easy", "hard", "middling", "gate"))
WORK = """echo "$1 begins"
case "$1" in *gate) while ! test -e {gate}; do sleep 0.05; done;; esac
case "$1" in "better easy"|"better middling") echo right > out.txt;; *) echo wrong > out.txt;; esac
"""


def test_scores_and_the_interval_come_while_the_eval_runs(browser: Any, tmp_path: Path) -> None:
    console = Console(tmp_path)
    console.config(shell_host(4))
    gate = tmp_path / "gate"
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "work").write_text(WORK.format(gate=gate))
    live = console.start("eval", "spec.toml", "--follow", "--concurrency", "4")
    live.wait_for("page: ")
    found = re.search(r"page: (\S+)", live.err)
    assert found is not None
    assert found[1].endswith("/#/?show=evals")
    page = open_page(browser, found[1], bypass_csp=True, reduced_motion="reduce")
    until(page, "document.getElementById('eval-about').textContent.startsWith('6 of 8 trials scored')")
    rows = page.locator("#eval-table tr").all_inner_texts()
    assert [re.split(r"\s+", row)[0] for row in rows[1:]] == ["easy", "hard", "middling", "gate", "mean"]
    assert re.split(r"\s+", rows[1])[1:] == ["0", "1/1", "1", "1/1"]
    assert re.search(r"0\.667, from .* to .* \(95 %\)", page.inner_text("#eval-lifts"))
    page.focus("#eval-table button:text-is('easy')")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('#transcripts pre')[1]?.textContent.includes('better easy begins')")
    assert "plain easy begins" in page.inner_text("#transcripts pre")
    bring_axe(page)
    seen = [fault for scheme, width in schemes(page) for fault in looked_at(page, f"an eval, {scheme}, {width}")]
    assert seen == []
    right = page.evaluate(
        "document.querySelector('#eval-table tr:nth-child(2) td:last-child').getBoundingClientRect().right"
    )
    assert right <= 390, "at 390 pixels every score is in sight"
    assert page.complaints == []
    page.context.close()
    gate.touch()
    assert live.process.wait(60) == 0
    console.close()
