"""The split of a large tree: the standard library of the running interpreter, which every machine has."""

import sysconfig
from pathlib import Path

from manyhands.sources.split.directory_source import read_directory
from manyhands.sources.split.split_figures import figures_of
from manyhands.sources.split.split_types import SplitSettings
from manyhands.sources.split.splitting import split


class SplitTheStandardLibrary:
    number, repeat, rounds, warmup_time, timeout = 1, 3, 1, 0.0, 300.0

    def setup(self) -> None:
        library = Path(sysconfig.get_path("stdlib"))
        self.code = read_directory(library, include=["*.py"], exclude=["site-packages/"])

    def time_split(self) -> None:
        split(self.code.source, SplitSettings(), self.code.read)

    def track_leaves_against_the_least(self) -> float:
        figures = figures_of(split(self.code.source, SplitSettings(), self.code.read))
        return figures.leaves / figures.leaves_min

    def track_files(self) -> int:
        return len(self.code.source.paths)
