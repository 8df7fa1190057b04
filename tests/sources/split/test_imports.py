import subprocess
import sys
from pathlib import Path

from manyhands.sources.split.imports.import_ties import FilesOnDisk, read_imports
from sources.split.trees import write_files


def _ties(root: Path, content_of: dict[str, str | bytes]) -> set[tuple[str, str]]:
    write_files(root, content_of)
    found, notes = read_imports(FilesOnDisk(root, content_of))
    assert notes == []
    return {(tie.importer, tie.imported) for tie in found}


def test_python_imports_are_found_in_packages_src_layouts_and_functions(tmp_path: Path):
    ties = _ties(
        tmp_path,
        {
            "src/pkg/__init__.py": "",
            "src/pkg/a.py": "from . import b\nfrom .sub.c import thing\nimport os, json\n",
            "src/pkg/b.py": "def f():\n    if True:\n        import pkg.sub.c\n",
            "src/pkg/sub/__init__.py": "from .. import a as other\n",
            "src/pkg/sub/c.py": "try:\n    pass\nexcept E:\n    from pkg import nothing\n",
            "tests/test_a.py": "from pkg import a\nfrom side import x\n'''\nimport pkg.b\n'''\n",
            "tests/side.py": "",
            "broken.py": "def (:\n",
        },
    )
    assert ties == {
        ("src/pkg/a.py", "src/pkg/b.py"),
        ("src/pkg/a.py", "src/pkg/sub/c.py"),
        ("src/pkg/b.py", "src/pkg/sub/c.py"),
        ("src/pkg/sub/__init__.py", "src/pkg/a.py"),
        ("src/pkg/sub/c.py", "src/pkg/__init__.py"),
        ("tests/test_a.py", "src/pkg/a.py"),
        ("tests/test_a.py", "tests/side.py"),
    }


def test_typescript_and_javascript_imports_are_found(tmp_path: Path):
    ties = _ties(
        tmp_path,
        {
            "web/app.tsx": "import { a } from './lib';\nimport x from './lib/x.js';\nexport * from '../shared/y';\n"
            "const lazy = import('./lazy');\nconst s = './unused';\nimport pkg from '@org/tool/deep';\n",
            "web/lib/index.ts": "import type { T } from 'react';\n",
            "web/lib/x.ts": "const z = require('../old.js');\n",
            "web/lazy.jsx": "",
            "web/old.js": "",
            "web/unused.ts": "",
            "shared/y.ts": "",
            "packages/tool/package.json": '{"name": "@org/tool"}',
            "packages/tool/src/deep.ts": "",
        },
    )
    assert ties == {
        ("web/app.tsx", "web/lib/index.ts"),
        ("web/app.tsx", "web/lib/x.ts"),
        ("web/app.tsx", "shared/y.ts"),
        ("web/app.tsx", "web/lazy.jsx"),
        ("web/app.tsx", "packages/tool/src/deep.ts"),
        ("web/lib/x.ts", "web/old.js"),
    }


def test_imports_by_full_name_are_found_inside_the_package_that_is_split(tmp_path: Path):
    write_files(tmp_path, {"src/shop/__init__.py": "", "src/shop/orders/__init__.py": ""})
    content: dict[str, str | bytes] = {
        "__init__.py": "",
        "bill.py": "from shop.orders import cart\nfrom shop.orders.cart import add\nimport shop.orders.ship.by_air\n",
        "cart.py": "import shop.stock\n",
        "ship/__init__.py": "",
        "ship/by_air.py": "from shop.orders.bill import total\n",
    }
    assert _ties(tmp_path / "src/shop/orders", content) == {
        ("bill.py", "cart.py"),
        ("bill.py", "ship/by_air.py"),
        ("ship/by_air.py", "bill.py"),
    }


def test_a_go_import_is_shared_by_the_files_of_its_package(tmp_path: Path):
    content = {
        "go.mod": "module example.org/app\n\ngo 1.22\n",
        "main.go": 'package main\n\nimport (\n\t"fmt"\n\tstore "example.org/app/internal/store"\n)\n',
        "internal/store/a.go": "package store\n",
        "internal/store/b.go": 'package store\n\nimport "example.org/app"\n',
        "internal/store/a_test.go": "package store\n",
    }
    write_files(tmp_path, content)
    found, _ = read_imports(FilesOnDisk(tmp_path, content))
    assert sorted(found) == [
        ("internal/store/b.go", "main.go", 1.0),
        ("main.go", "internal/store/a.go", 0.5),
        ("main.go", "internal/store/b.go", 0.5),
    ]


def test_rust_modules_and_uses_are_found(tmp_path: Path):
    ties = _ties(
        tmp_path,
        {
            "src/lib.rs": "mod net;\nmod store { pub fn f() {} }\nuse std::fmt;\n",
            "src/net/mod.rs": "pub mod tcp;\nuse crate::wire::{Frame, codec::{Encode, Decode}};\n",
            "src/net/tcp.rs": "use super::Listener;\nuse crate::wire::codec as c;\n",
            "src/wire.rs": "pub mod codec;\n",
            "src/wire/codec.rs": "use super::super::net::tcp::Stream;\n",
        },
    )
    assert ties == {
        ("src/lib.rs", "src/net/mod.rs"),
        ("src/net/mod.rs", "src/net/tcp.rs"),
        ("src/net/mod.rs", "src/wire.rs"),
        ("src/net/mod.rs", "src/wire/codec.rs"),
        ("src/net/tcp.rs", "src/wire/codec.rs"),
        ("src/wire.rs", "src/wire/codec.rs"),
        ("src/wire/codec.rs", "src/net/tcp.rs"),
    }


def test_java_imports_are_found_by_class_member_and_package(tmp_path: Path):
    place = "app/src/main/java/org/example"
    ties = _ties(
        tmp_path,
        {
            f"{place}/Main.java": "package org.example;\nimport org.example.store.Store;\nimport java.util.List;\n"
            "import static org.example.text.Words.join;\nimport org.example.wire.*;\nclass Main {}\n",
            f"{place}/store/Store.java": "package org.example.store;\n",
            f"{place}/text/Words.java": "package org.example.text;\n",
            f"{place}/wire/A.java": "package org.example.wire;\n",
            f"{place}/wire/B.java": "package org.example.wire;\n",
        },
    )
    main = f"{place}/Main.java"
    targets = ("store/Store", "text/Words", "wire/A", "wire/B")
    assert ties == {(main, f"{place}/{target}.java") for target in targets}


def test_without_the_grammars_a_note_says_what_is_not_read(tmp_path: Path):
    write_files(tmp_path, {"a.ts": "import './b';\n", "b.ts": "", "c.py": "import d\n", "d.py": ""})
    program = (
        "import sys; sys.modules['tree_sitter'] = None\n"
        "from pathlib import Path\n"
        "from manyhands.sources.split.directory_source import read_directory\n"
        "code = read_directory(Path(sys.argv[1]))\n"
        "print(code.notes[0]); print(code.source.imports)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    note, imports = done.stdout.splitlines()
    assert note.startswith("the imports of 2 TypeScript files are not read")
    assert imports == "((2, 3, 1.0),)"
