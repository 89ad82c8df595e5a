"""Nothing that runs code out of data, nothing undeclared, nothing that only makes sense on one machine."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from .tree import PACKAGE, ROOT, Module, dotted, modules, repository_files, zoo_modules

PICKLES = {"cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
REFUSALS = {"UnpicklingError"}
CODE_FROM_TEXT = {"eval", "exec", "compile", "__import__"}
NAMES_OF_PACKAGES = {
    "markdown_it": "markdown-it-py",
    "sklearn": "scikit-learn",
    "PIL": "pillow",
    "ale_py": "ale-py",
    "google_crc32c": "google-crc32c",
    "imageio_ffmpeg": "imageio-ffmpeg",
    "openTSNE": "opentsne",
    "sb3_contrib": "sb3-contrib",
    "stable_baselines3": "stable-baselines3",
    "umap": "umap-learn",
}
# Put together here so that this file does not break its own rule.
HOSTS = [".".join(parts) for parts in (
    ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("yarnpkg", "com"),
    ("download", "pytorch", "org"), ("anaconda", "org"), ("npmmirror", "com"),
)]  # fmt: skip
MACHINE_PATH = re.compile(r"""(?<![\w./~$}*-])/(?:work|root|opt|home/\w+|Users/\w+|mnt|srv)/""")


def unsafe(module: Module) -> Iterator[str]:
    for node, target, names in module.imports():
        # pickle itself may be imported for the name of its failure, to say what was refused.
        if target.partition(".")[0] in PICKLES or (target == "pickle" and set(names) - REFUSALS):
            yield f"{module.line(node)}: imports {target}"
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and dotted(node.value) == "pickle" and node.attr not in REFUSALS:
            yield f"{module.line(node)}: uses {dotted(node)}"
    for node, called in module.calls():
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if called in CODE_FROM_TEXT:
            yield f"{module.line(node)}: calls {called}"
        if called == "torch.load" and not _is(given.get("weights_only"), True):
            yield f"{module.line(node)}: torch.load without weights_only=True"
        if "allow_pickle" in given and not _is(given["allow_pickle"], False):
            yield f"{module.line(node)}: allow_pickle"
        if not _is(given.get("shell", ast.Constant(False)), False):
            yield f"{module.line(node)}: shell"


def _is(node: ast.AST | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def declared() -> set[str]:
    """Distributions named in pyproject.toml, in the core or in an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    return {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower() for line in lines}


def test_no_code_comes_out_of_data() -> None:
    assert not [problem for module in (*modules().values(), *zoo_modules()) for problem in unsafe(module)]


def test_unsafe_lines_are_seen(tmp_path: Path) -> None:
    text = (
        "import pickle\nfrom pickle import UnpicklingError, loads\ntorch.load(f)\ntorch.load(f, weights_only=True)\n"
        "torch.load(f, weights_only=False)\neval(x)\nmodel.eval()\nnp.load(f, allow_pickle=True)\nrun(x, shell=True)\n"
        "import dill\npickle.UnpicklingError\npickle.loads(x)\n"
    )
    found = list(unsafe(Module("m", tmp_path / "m.py", text)))
    assert sorted(int(problem.split(":")[1]) for problem in found) == [2, 3, 5, 6, 8, 9, 10, 12]


def test_every_import_is_declared() -> None:
    known = {*sys.stdlib_module_names, PACKAGE, "?"}
    imported = {
        (target.partition(".")[0], module.line(node))
        for module in modules().values()
        for node, target, _ in module.imports()
        if target.partition(".")[0] not in known
    }
    packages = declared()
    assert not [
        f"{line}: {name}" for name, line in sorted(imported) if NAMES_OF_PACKAGES.get(name, name) not in packages
    ]


def test_the_core_is_lean() -> None:
    """What the core asks for is imported somewhere in it; websockets is what uvicorn speaks with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    core = {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower() for line in project["dependencies"]}
    imported = {target.partition(".")[0] for module in modules().values() for _, target, _ in module.imports()}
    used = {NAMES_OF_PACKAGES.get(name, name).lower() for name in imported}
    assert core - used <= {"websockets"}


def test_every_dependency_is_pinned_for_set_up() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines if "==" in line}
    assert declared() - {PACKAGE, "innerview-zoo"} <= pinned


def test_nothing_is_bound_to_one_machine_or_registry() -> None:
    found = []
    for path in repository_files():
        data = path.read_bytes()
        if b"\0" in data[:4096]:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if any(host in line for host in HOSTS) or MACHINE_PATH.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
    assert not found


def test_machine_paths_are_seen() -> None:
    def slashed(*parts: str) -> str:
        return "/" + "/".join(parts)

    assert MACHINE_PATH.search(f"x = '{slashed('work', 'main')}'")
    assert MACHINE_PATH.search(f"cd {slashed('home', 'ada', 'x')}")
    assert not MACHINE_PATH.search("web/src/work/main and node_modules/opt/x")
