"""A room imports only from rooms above it; compute rooms are pure; there is no cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .tree import PACKAGE, Module, cycle, dotted, edges, modules

ABOVE = ("errors", "registry", "schema", "subjects", "worlds", "capture", "store")
COMPUTE = (
    "metrics",
    "saliency",
    "features",
    "memory",
    "attention",
    "transfer",
    "synthesis",
    "projection",
    "edits",
    "trust",
)
BELOW = ("jobs", "lenses", "rollouts", "interventions", "explorables", "serve", "cli", "testing")
ORDER = (*ABOVE, *COMPUTE, *BELOW)
HTTP = {"fastapi", "pydantic", "starlette", "uvicorn", "websockets"}
DISK_AND_NETWORK = {
    *("io", "os", "pathlib", "shutil", "tempfile", "glob", "sqlite3", "subprocess", "zarr", "fsspec"),
    *("socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "websockets"),
}
SPEAKING = {"open", "print", "input"}
ARRAY_PACKAGES = {"np", "numpy", "torch", "pl", "polars", "Image"}
# What compute rooms may import of the package.
REACHED = ("errors", "registry", "schema", "subjects")
WRITES = {
    *(
        "write_text",
        "write_bytes",
        "mkdir",
        "makedirs",
        "unlink",
        "rmtree",
        "touch",
        "symlink_to",
        "hardlink_to",
    ),
    *(
        "write_parquet",
        "write_ipc",
        "write_csv",
        "write_json",
        "write_ndjson",
        "sink_parquet",
        "sink_ipc",
        "sink_csv",
        "sink_ndjson",
        "savez",
        "savez_compressed",
        "save_file",
        "tofile",
        "copytree",
        "copyfile",
        "copy2",
    ),
}
WRITES_IN_FULL = {
    *(f"{arrays}.{called}" for arrays in ("np", "numpy", "torch") for called in ("save", "savez", "memmap")),
    *(f"os.{called}" for called in ("open", "replace", "remove", "link", "symlink", "truncate")),
    *(f"shutil.{called}" for called in ("copy", "move", "rmtree")),
}
# Modules that import what a text names: a plug-in, the work of a kind of job, a part of the API.
COMPUTED_IMPORTS = (
    "innerview",
    "innerview.jobs.kinds",
    "innerview.lenses.discovery",
    "innerview.registry",
    "innerview.subjects.plugins",
)
# Rooms that write where a person asked for a file, or into a temporary folder of their own, never into a study.
WRITES_ELSEWHERE = ("worlds", "explorables", "cli", "testing")
WRITES_ELSEWHERE_MODULES = ("innerview.subjects.weights", "innerview.serve.pyramids")
READ_OR_WRITE = {"open", "load", "save", "savez", "fromfile", "tofile", "memmap", "read_parquet", "read_csv"}
PATH_METHODS = {"write_text", "write_bytes", "read_text", "read_bytes", "mkdir", "unlink"}


def wrong_order(known: Mapping[str, Module]) -> Iterator[str]:
    for name, goals in edges(known).items():
        here = known[name].room
        for goal, line in goals.items():
            there = known[goal].room
            # The package itself gathers the API, so it stands below every room.
            place, other = _place(here), _place(there)
            if here == there or other < place:
                continue
            yield f"{line}: {here or PACKAGE} imports {there or PACKAGE}, which is not above it"
    for module in known.values():
        for node, goal in module.homes():
            there = goal.split(".")[1]
            if there != module.room and _place(there) >= _place(module.room):
                yield f"{module.line(node)}: {module.room or PACKAGE} names {there}, which is not above it"


def computed(known: Mapping[str, Module]) -> list[str]:
    """Imports of what cannot be read from the text."""
    return [module.line(node) for module in known.values() for node, target, _ in module.imports() if target == "?"]


def _place(room: str) -> int:
    """Where a room stands; compute rooms stand side by side."""
    if not room:
        return len(ORDER)
    return ORDER.index(COMPUTE[0] if room in COMPUTE else room)


def impure(module: Module) -> Iterator[str]:
    for node, target, _ in module.imports():
        if target.partition(".")[0] in DISK_AND_NETWORK:
            yield f"{module.line(node)}: imports {target}"
    for node, called in module.calls():
        last = called.rpartition(".")[2]
        of_arrays = last in READ_OR_WRITE and called.partition(".")[0] in ARRAY_PACKAGES
        if called in SPEAKING or last in PATH_METHODS or of_arrays:
            yield f"{module.line(node)}: calls {called}"


def beyond_reach(known: Mapping[str, Module]) -> list[str]:
    """What compute rooms import of the package beside errors, registry, schema, subjects and themselves."""
    return [
        f"{module.line(node)}: imports {target}"
        for module in known.values()
        if module.room in COMPUTE
        for node, target, names in module.imports()
        if target == "?"
        or (target.partition(".")[0] == PACKAGE and not _rooms(target, names) <= {*REACHED, module.room})
    ]


def _rooms(target: str, names: tuple[str, ...]) -> set[str]:
    room = target.partition(".")[2].partition(".")[0]
    return {room} if room else set(names) or {""}


def writing(module: Module) -> list[str]:
    """Where a module writes files."""
    return [
        f"{module.line(node)}: calls {called}"
        for node, called in module.calls()
        if called.rpartition(".")[2] in WRITES
        or called in WRITES_IN_FULL
        or called.endswith(".rename")
        or (called.rpartition(".")[2] == "open" and _opens_to_write(node))
    ]


def _opens_to_write(call: ast.Call) -> bool:
    modes = [a.value for a in (*call.args, *(k.value for k in call.keywords)) if isinstance(a, ast.Constant)]
    return any(
        isinstance(mode, str) and 0 < len(mode) <= 3 and set(mode) & set("wax+") and set(mode) <= set("rwaxbt+")
        for mode in modes
    )


def importing(known: Mapping[str, Module], packages: set[str], *, allowed: tuple[str, ...]) -> list[str]:
    return [
        f"{module.line(node)}: imports {target}"
        for module in known.values()
        if module.room not in allowed
        for node, target, _ in module.imports()
        if target.partition(".")[0] in packages
    ]


def hooking(known: Mapping[str, Module]) -> list[str]:
    return [
        f"{module.line(node)}: {dotted(node)}"
        for module in known.values()
        if module.room not in ("subjects", "testing")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("register_") and "hook" in node.attr
    ]


@pytest.fixture(scope="module")
def known() -> dict[str, Module]:
    return modules()


def test_every_room_has_its_place(known: dict[str, Module]) -> None:
    rooms = {module.room for module in known.values()} - {"", "__main__"}
    assert rooms <= set(ORDER), f"Rooms without a place in the order: {rooms - set(ORDER)}. See ARCHITECTURE.md."


def test_rooms_import_only_from_above(known: dict[str, Module]) -> None:
    assert not list(wrong_order(known))


def test_what_is_imported_can_be_read_from_the_text(known: dict[str, Module]) -> None:
    others = [line for line in computed(known) if line.rpartition(":")[0] not in COMPUTED_IMPORTS]
    assert not others


def test_there_is_no_import_cycle(known: dict[str, Module]) -> None:
    assert not cycle(edges(known))


def test_compute_rooms_are_pure(known: dict[str, Module]) -> None:
    assert not [problem for m in known.values() if m.room in COMPUTE for problem in impure(m)]


def test_compute_rooms_reach_no_further_than_subjects(known: dict[str, Module]) -> None:
    assert not beyond_reach(known)


def test_only_the_store_writes_into_a_study(known: dict[str, Module]) -> None:
    allowed = ("store", *WRITES_ELSEWHERE)
    assert any(writing(module) for module in known.values() if module.room == "store")
    others = [m for m in known.values() if m.room not in allowed and m.name not in WRITES_ELSEWHERE_MODULES]
    assert not [problem for module in others for problem in writing(module)]


def test_schema_knows_neither_torch_nor_the_disk(known: dict[str, Module]) -> None:
    schema = {name: module for name, module in known.items() if module.room == "schema"}
    assert schema
    assert not importing(schema, {"torch", "zarr", "polars"}, allowed=())
    assert not [problem for module in schema.values() for problem in impure(module)]


def test_only_serve_speaks_http(known: dict[str, Module]) -> None:
    assert not importing(known, HTTP, allowed=("serve",))


def test_the_core_does_not_know_the_zoo(known: dict[str, Module]) -> None:
    assert not importing(known, {"innerview_zoo"}, allowed=())


def test_only_subjects_attaches_hooks(known: dict[str, Module]) -> None:
    assert not hooking(known)


def test_capture_does_not_know_the_store(known: dict[str, Module]) -> None:
    graph = edges(known)
    lines = [graph[name] for name in graph if known[name].room == "capture"]
    assert lines
    assert not [line for goals in lines for goal, line in goals.items() if known[goal].room == "store"]


BAD = {
    "schema/__init__.py": "def f():\n    from innerview.store import Study\n    import torch\n",
    "store/__init__.py": "from innerview.store import b\n",
    "store/b.py": "from . import Study\n",
    "saliency/__init__.py": "import innerview.features\nfrom pathlib import Path\n",
    "features/__init__.py": "def f(m):\n    open('x')\n    m.register_forward_hook(print)\n    np.save('a', m)\n",
    "memory/__init__.py": "from importlib import import_module\nimport_module('innerview.worlds')\nimport_module(x)\n",
    "worlds/__init__.py": "import importlib\nimportlib.import_module('innerview_zoo.worlds')\n",
    "edits/__init__.py": "from innerview import capture\nfrom innerview.subjects import Subject\n",
    "lenses/__init__.py": "p.write_text('x')\nopen(p, 'rb')\nopen(p, 'wb')\nwith p.open('a') as f: pass\n"
    "np.save(p, a)\nself.save(p)\nos.replace(a, b)\np.rename(q)\nt.sink_csv(p)\nshutil.copy2(a, b)\n",
    "capture/step.py": "def f(name):\n    import innerview.store\n    __import__(name)\n",
    "rollouts/__init__.py": "job('innerview.serve.jobs:Work')\njob('innerview.store.jobs:Work')\n",
    "jobs/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pydantic import BaseModel\n",
    "__init__.py": "from innerview.jobs import x\n",
}


@pytest.fixture
def bad(tmp_path: Path) -> dict[str, Module]:
    for name, text in BAD.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return modules(tmp_path)


def test_the_rules_see_what_is_wrong(bad: dict[str, Module]) -> None:
    """Each rule on a tree that breaks it, so that a rule which sees nothing is noticed."""
    wrong = "\n".join(wrong_order(bad))
    assert "innerview.schema:2: schema imports store" in wrong
    assert "innerview.saliency:1: saliency imports features" in wrong
    assert "innerview.edits:1: edits imports innerview" in wrong
    assert "innerview.capture.step:2: capture imports store" in wrong
    assert "innerview.rollouts:1: rollouts names serve" in wrong
    assert wrong.count("\n") == 4
    assert computed(bad) == ["innerview.capture.step:3", "innerview.memory:3"]
    assert beyond_reach(bad) == [
        "innerview.edits:1: imports innerview",
        "innerview.memory:2: imports innerview.worlds",
        "innerview.memory:3: imports ?",
        "innerview.saliency:1: imports innerview.features",
    ]
    assert {line.partition(": calls ")[2] for line in writing(bad["innerview.lenses"])} == {
        *("p.write_text", "open", "p.open", "np.save", "os.replace", "p.rename", "t.sink_csv", "shutil.copy2")
    }
    assert len(writing(bad["innerview.lenses"])) == 8
    assert set(cycle(edges(bad))) == {"innerview.store", "innerview.store.b"}
    assert list(impure(bad["innerview.saliency"])) == ["innerview.saliency:2: imports pathlib"]
    assert len(list(impure(bad["innerview.features"]))) == 2
    assert importing(bad, {"torch"}, allowed=()) == ["innerview.schema:3: imports torch"]
    assert importing(bad, HTTP, allowed=("serve",)) == ["innerview.jobs:3: imports pydantic"]
    assert importing(bad, {"innerview_zoo"}, allowed=()) == ["innerview.worlds:2: imports innerview_zoo.worlds"]
    assert hooking(bad) == ["innerview.features:3: m.register_forward_hook"]
