"""A dispatcher that is left running costs next to nothing while there is nothing to do."""

import importlib.util
from pathlib import Path

BENCH = Path(__file__).parents[3] / "bench" / "serve_idle.py"
#: Of a core; 0.3 to 0.5 % were measured, and a shared machine may charge for more than was done.
SHARE_MAX = 0.03
SECONDS = 4.0


def test_five_thousand_issues_in_which_nothing_happens_take_hardly_any_time(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("serve_idle", BENCH)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    with bench.serving(tmp_path) as process:
        share = bench.idle_share(process, SECONDS)
    assert share <= SHARE_MAX, f"{share:.1%} of a core"
