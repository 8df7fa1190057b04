"""Imports of Java files: a class by its qualified name, or a whole package, whose files share the import."""

from collections.abc import Iterator

from manyhands.sources.split.imports.grammars import parse
from manyhands.sources.split.imports.import_reader import Files, Import, folder_of, shared
from manyhands.sources.split.imports.syntax import text_of


def java_imports(files: Files) -> Iterator[Import]:
    sources = [path for path in sorted(files.paths) if path.endswith(".java")]
    ending: dict[str, list[str]] = {}  # last two names of a path → files
    inside: dict[str, list[str]] = {}  # last name of a folder → files
    for path in sources:
        ending.setdefault(_tail(path[:-5]), []).append(path)
        inside.setdefault(folder_of(path).rstrip("/").rpartition("/")[2], []).append(path)
    for path in sources:
        content = files.read(path)
        root = parse(path, content) if content is not None else None
        if root is None:
            continue
        for declaration in (node for node in root.named_children if node.type == "import_declaration"):
            words = text_of(declaration).removeprefix("import").rstrip("; \n").split()
            name = words[-1].replace(".", "/") if words else ""
            if name.endswith("/*"):
                package = name[:-2]
                files_of = inside.get(package.rpartition("/")[2], ())
                yield from shared(path, (file for file in files_of if _ends(folder_of(file).rstrip("/"), package)))
            else:
                yield from _class(path, name, "static" in words[:-1], ending)


def _class(path: str, name: str, is_static: bool, ending: dict[str, list[str]]) -> Iterator[Import]:
    """Look one name up too: a static import names a member, and a nested class is in the file of the outer one."""
    for place in (name, name.rpartition("/")[0]) if is_static or name.count("/") > 1 else (name,):
        found = [file for file in ending.get(_tail(place), ()) if _ends(file[:-5], place)]
        if found:
            yield from shared(path, found)
            return


def _tail(place: str) -> str:
    return "/".join(place.split("/")[-2:])


def _ends(place: str, name: str) -> bool:
    return place == name or place.endswith("/" + name)
