"""A width goes into its host's table, and every other byte stays as it was."""

import os
import stat
import tomllib
from pathlib import Path

import pytest

from manyhands.errors import ConfigError
from manyhands.sources.config.width_writing import with_width, write_width

CASES = {
    "a table": (
        '[hosts.gpu]\ntype = "shell"\nkinds = ["a"]\n',
        '[hosts.gpu]\ntype = "shell"\nwidth = 6\nkinds = ["a"]\n',
    ),
    "a comment stays": ('[hosts.gpu]\ntype = "shell" # x\n', '[hosts.gpu]\ntype = "shell" # x\nwidth = 6\n'),
    "indented": ('[hosts.gpu]\n  type = "shell"\n', '[hosts.gpu]\n  type = "shell"\n  width = 6\n'),
    "no newline at the end": ('[hosts.gpu]\ntype = "shell"', '[hosts.gpu]\ntype = "shell"\nwidth = 6'),
    "windows": ('[hosts.gpu]\r\ntype = "shell"\r\n', '[hosts.gpu]\r\ntype = "shell"\r\nwidth = 6\r\n'),
    "replaced": ('[hosts.gpu]\nwidth = 12 # was\ntype = "shell"\n', '[hosts.gpu]\nwidth = 6 # was\ntype = "shell"\n'),
    "a range": (
        '[hosts.gpu]\ntype = "shell"\nwidth = { min = 1, max = 9 }\n',
        '[hosts.gpu]\ntype = "shell"\nwidth = 6\n',
    ),
    "dotted": ('hosts.gpu.type = "shell"\n', 'hosts.gpu.type = "shell"\nhosts.gpu.width = 6\n'),
    "below hosts": ('[hosts]\ngpu.type = "shell"\n', '[hosts]\ngpu.type = "shell"\ngpu.width = 6\n'),
    "inline": (
        '[hosts]\ngpu = { type = "shell", kinds = ["a"] }\n',
        '[hosts]\ngpu = { type = "shell", width = 6, kinds = ["a"] }\n',
    ),
    "the other host is left alone": (
        '[hosts.a]\ntype = "shell"\nwidth = 2\n[hosts.gpu]\ntype = "python"\n',
        '[hosts.a]\ntype = "shell"\nwidth = 2\n[hosts.gpu]\ntype = "python"\nwidth = 6\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_the_width_is_put_where_it_belongs(before: str, after: str) -> None:
    assert with_width(before, "gpu", 6) == after
    assert tomllib.loads(after)["hosts"]["gpu"]["width"] == 6
    assert with_width(after, "gpu", 6) == after


def test_a_table_of_its_own_for_the_width_is_left_to_the_person() -> None:
    with pytest.raises(ConfigError) as refused:
        with_width('[hosts.gpu]\ntype = "shell"\n[hosts.gpu.width]\nmin = 1\n', "gpu", 6)
    assert refused.value.hint == "write `width = 6` for host `gpu` there by hand"


def test_a_host_that_is_not_there_is_said() -> None:
    with pytest.raises(ConfigError, match="has no host `gpu`"):
        with_width('[hosts.a]\ntype = "shell"\n', "gpu", 6)


def test_the_file_keeps_its_mark_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "manyhands.toml"
    real.write_bytes(b'\xef\xbb\xbf[hosts.gpu]\ntype = "shell"\n')
    real.chmod(0o640)
    link.symlink_to(real)
    write_width(link, "gpu", 6)
    assert real.read_bytes() == b'\xef\xbb\xbf[hosts.gpu]\ntype = "shell"\nwidth = 6\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["manyhands.toml", "real.toml"]
