"""All languages together: the import ties of a directory, and what could not be read."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from manyhands.install_hints import install_hint
from manyhands.quantities import quantity
from manyhands.sources.split.imports.go_imports import go_imports
from manyhands.sources.split.imports.grammars import has_grammar, language_of
from manyhands.sources.split.imports.import_reader import Import
from manyhands.sources.split.imports.java_imports import java_imports
from manyhands.sources.split.imports.javascript_imports import javascript_imports
from manyhands.sources.split.imports.python_imports import python_imports
from manyhands.sources.split.imports.rust_imports import rust_imports

_READERS = (python_imports, javascript_imports, go_imports, rust_imports, java_imports)


#: Larger files are data or generated code, and not worth the memory.
_READ_BYTES_MAX = 64 * 1024 * 1024


class FilesOnDisk:
    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        self._root = root
        self._paths = frozenset(paths)

    @property
    def paths(self) -> frozenset[str]:
        return self._paths

    @property
    def package(self) -> str:
        names: list[str] = []
        place = self._root.resolve()
        while (place / "__init__.py").is_file() and place.name:
            names.insert(0, place.name)
            place = place.parent
        return "/".join(names)

    def read(self, path: str) -> bytes | None:
        file = self._root / path
        try:
            return file.read_bytes() if file.stat().st_size <= _READ_BYTES_MAX else None
        except OSError:
            return None


def read_imports(files: FilesOnDisk) -> tuple[list[Import], list[str]]:
    """The ties, and a note for each language that has files here but no installed grammar."""
    unread = Counter(language_of(path) for path in files.paths if language_of(path) and not has_grammar(path))
    notes = [
        f"the imports of {quantity(count, f'{language} file')} are not read: `{install_hint('split')}` adds the grammar"
        for language, count in sorted(unread.items())
    ]
    return [tie for reader in _READERS for tie in reader(files)], notes
