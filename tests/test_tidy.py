# SPDX-License-Identifier: Apache-2.0
"""Style is a test: sizes, names, who may import whom, and who may ask the system for what.

Every failure says what to do instead. The numbers here are those of STYLE.md.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "eruca"
MODULES = sorted(SOURCE.rglob("*.py"))

LINE_MAX = 100
MODULE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
TABLES = {"wire/codes.py", "wire/commands.py", "config_keys.py"}

# Who may import whom: a package, and the packages (or modules) of Eruca that it may use.
LEAVES = {"errors", "clock"}
MAY_IMPORT = {
    "errors": set(),
    "clock": set(),
    "wire": {"errors", "wire"},
    "message": {"errors", "wire"},
    "config": {"errors", "config", "config_keys", "wire"},
    "config_keys": set(),
    "configure": {"errors", "config", "config_keys", "wire"},
    "store": {*LEAVES, "wire", "config", "store"},
    "net": {*LEAVES, "wire", "net"},
    "client": {*LEAVES, "wire", "net", "message", "client"},
    "nameserver": {
        *LEAVES, "wire", "net", "config", "configure", "nameserver", "store.disk",
    },
    "broker": {*LEAVES, "wire", "net", "store", "config", "configure", "broker"},
    "bench": {*LEAVES, "wire", "net", "client", "message", "bench"},
    "cli": {
        *LEAVES, "wire", "net", "store", "broker", "nameserver", "client", "message", "bench",
        "config", "config_keys", "configure", "cli",
    },
    "__main__": {"cli"},
    "__init__": set(),
}  # fmt: skip

# What asks the system for something, and the only places that may. A dot ends a module's name.
SYSTEM = {
    "time": {"clock.py"},
    "datetime": {"store/files.py", "wire/ids.py", "broker/reports.py", "cli/"},
    "random": {"broker/broker.py", "cli/", "client/", "bench/"},
    "uuid": set(),
    "os": {"store/disk.py", "cli/", "bench/"},
    "mmap": {"store/disk.py", "store/segment.py", "store/index.py"},
    "fcntl": {"store/disk.py"},
    "shutil": {"store/disk.py", "bench/", "cli/"},
    "tempfile": {"bench/", "cli/"},
    "socket": {"net/", "bench/", "cli/"},
    "threading": set(),
    "concurrent": {"store/flush.py"},
    "subprocess": {"bench/"},
    "signal": {"cli/", "bench/"},
    "pickle": set(),
}
BANNED_CALLS = {
    "open": "use store/disk.py, or pathlib in cli/",
    "print": "only cli/ prints; log, or return what there is to say",
    "eval": "never",
    "exec": "never",
    "__import__": "import lazily in cli/ only, with importlib",
}
CALL_HOMES = {"open": ("store/disk.py",), "print": ("cli/",), "__import__": ()}
BANNED_NAME_STARTS = ("get_", "set_", "do_", "handle_", "process_")
# asyncio, argparse and the standard library call these; their names are not ours to choose.
GIVEN_NAMES = {"set_defaults", "get_loop"}
BANNED_NAME_ENDS = (
    "Manager", "Service", "Helper", "Util", "Utils", "Impl", "Base", "Abstract", "Factory",
    "Context", "Processor",
)  # fmt: skip


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@pytest.fixture(params=MODULES, ids=name_of)
def module(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_begins_with_its_licence_and_its_purpose(module: Path) -> None:
    text = module.read_text()
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n"), "add the licence line"
    assert ast.get_docstring(tree_of(module)), "say in a docstring what the module is for"


def test_is_small(module: Path) -> None:
    lines = module.read_text().splitlines()
    long = [number for number, line in enumerate(lines, 1) if len(line) > LINE_MAX]
    assert not long, f"lines {long} have more than {LINE_MAX} columns: break them"
    if name_of(module) not in TABLES:
        assert len(lines) <= MODULE_LINES_MAX, f"{len(lines)} lines: look for the seam"


def test_functions_fit_a_screen(module: Path) -> None:
    for function in functions(module):
        assert function.end_lineno is not None
        size = function.end_lineno - function.lineno + 1
        assert size <= FUNCTION_LINES_MAX, f"{function.name}: {size} lines: take a step out of it"


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_names_say_what_things_are(module: Path) -> None:
    for function in functions(module):
        if function.name not in GIVEN_NAMES:
            bad = function.name.lstrip("_").startswith(BANNED_NAME_STARTS)
            assert not bad, f"{function.name}: say what it does or answers, without the prefix"
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ClassDef):
            bad = node.name.endswith(BANNED_NAME_ENDS)
            assert not bad, f"{node.name}: name the thing; such a word says that it is not known"


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_only_what_lies_below(module: Path) -> None:
    name = name_of(module)
    package = name.partition("/")[0].removesuffix(".py")
    allowed = MAY_IMPORT[package]
    for imported in imports(module):
        if not imported.startswith("eruca."):
            continue
        parts = imported.split(".")[1:]
        fits = parts[0] in allowed or ".".join(parts[:2]) in allowed
        assert fits, f"{imported}: {package} may import {sorted(allowed)}"


def is_below(name: str, home: str) -> bool:
    return home.endswith("/") and name.startswith(home)


def test_asks_the_system_only_where_it_may(module: Path) -> None:
    name = name_of(module)
    for imported in imports(module):
        homes = SYSTEM.get(imported.partition(".")[0])
        if homes is not None:
            at_home = any(name == home or is_below(name, home) for home in homes)
            assert at_home, f"{imported}: only {sorted(homes)} may; have it handed in"


def test_calls_nothing_that_has_another_home(module: Path) -> None:
    name = name_of(module)
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            instead = BANNED_CALLS.get(node.func.id)
            if instead is not None:
                homes = CALL_HOMES.get(node.func.id, ())
                assert name.startswith(homes) if homes else False, f"{node.func.id}: {instead}"


def test_leaves_no_loose_ends(module: Path) -> None:
    text = module.read_text()
    for word in ("FIXME", "XXX:", "TODO", "HACK"):
        assert word not in text, f"{word}: do it, or write it into the documents as a limit"
    assert not re.search(r"except\s*:", text), "name what you catch"


def test_somebody_imports_it() -> None:
    used = {each for path in MODULES for each in imports(path)}
    used |= {"eruca.__main__", "eruca.cli.main"}
    lazy = "\n".join(path.read_text() for path in MODULES if name_of(path).startswith("cli/"))
    for path in MODULES:
        name = "eruca." + name_of(path).removesuffix(".py").replace("/", ".")
        if not name.endswith("__init__"):
            short = name.rpartition(".")[2]
            named = name in used or f'"{name}"' in lazy or f'"{short}"' in lazy
            assert named, f"{name}: nobody imports it: delete it"


def test_documents_have_one_title() -> None:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        fenced = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
        titles = [line for line in fenced.splitlines() if line.startswith("# ")]
        assert len(titles) == 1, f"{path.name}: one title, not {len(titles)}"


def test_style_has_the_same_numbers() -> None:
    text = (ROOT / "STYLE.md").read_text()
    for number in (LINE_MAX, MODULE_LINES_MAX, FUNCTION_LINES_MAX):
        assert str(number) in text, f"STYLE.md does not say {number}"
