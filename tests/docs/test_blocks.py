"""Every code block of README and docs runs as it is written, or says why it does not; every command can be parsed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer

import innerview as iv
from innerview.cli.app import app
from innerview.metrics.language import parse

from .blocks import LANGUAGES, ROOT, Block, all_blocks, read_blocks
from .prepared import prepare

BLOCKS = all_blocks()
RUN = [block for block in BLOCKS if not block.mark and block.language in {"python", "sh"}]
PAGES = sorted({block.page for block in RUN})


def unexplained(blocks: list[Block]) -> list[str]:
    """Blocks of no known language, and marks that give no reason or name no test."""
    problems = [
        f"{block.id}: write the language after the fence" for block in blocks if block.language not in LANGUAGES
    ]
    for block in blocks:
        kind, _, rest = block.mark.partition(": ")
        if kind == "run by":
            test = ROOT / rest
            if not test.is_file() or Path(block.page).name not in test.read_text("utf-8"):
                problems.append(f"{block.id}: {rest!r} is no test that reads this page")
        elif block.mark and (kind != "not run" or len(rest) < 10):
            problems.append(f"{block.id}: give a reason, as in 'not run: trains for an hour'")
    return problems


def test_every_block_is_run_or_says_why_not() -> None:
    assert len(BLOCKS) > 80
    assert not unexplained(BLOCKS)


@pytest.mark.parametrize(
    "text",
    [
        "```\ninnerview list\n```\n",
        "```sh not run: no\ninnerview list\n```\n",
        "```sh run by: tests/test_missing.py\nls\n```\n",
        "```python later\nx\n```\n",
    ],
)
def test_a_block_without_a_reason_is_seen(text: str) -> None:
    assert unexplained(read_blocks(text, "docs/page.md"))


COMMANDS = [(block, words) for block in BLOCKS for words in block.commands]


@pytest.mark.parametrize(("block", "words"), COMMANDS, ids=[f"{b.id}:{' '.join(w[1:4])}" for b, w in COMMANDS])
def test_every_command_has_the_options_that_docs_give_it(block: Block, words: list[str]) -> None:
    command: click.Command = typer.main.get_command(app)
    context, arguments = click.Context(command), [word for word in words[1:] if word != "…"]
    while isinstance(command, click.Group):
        name, *arguments = arguments
        found = command.get_command(context, name)
        assert found is not None, f"{block.id}: there is no command {name!r}"
        command, context = found, click.Context(found, parent=context, info_name=name)
    command.make_context(words[1], arguments)


METRICS = [line for block in BLOCKS if block.language == "metric" for line in block.code.splitlines()]


@pytest.mark.parametrize("formula", METRICS)
def test_every_formula_can_be_read(formula: str) -> None:
    parse(formula)


@pytest.fixture
def quiet_show(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pages that blocks open are served without a browser, and closed at the end."""
    opened: list[Any] = []
    show = iv.show

    def served(*given: Any, **rest: Any) -> Any:
        opened.append(show(*given, **{**rest, "open_browser": False}))
        return opened[-1]

    monkeypatch.setattr(iv, "show", served)
    yield
    for handle in opened:
        handle.close()


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], dict[str, Any]]:
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.mark.usefixtures("quiet_show")
@pytest.mark.filterwarnings("ignore:Numcodecs codecs")  # as docs/studies.md says
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_as_written(
    page: str,
    prepared: Callable[[str, Path], dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = prepared(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    for block in [each for each in RUN if each.page == page]:
        if block.language == "python":
            exec(compile(block.code, block.id, "exec"), names)
            continue
        for words in block.commands:
            assert not app(words[1:], standalone_mode=False), f"{block.id}: {' '.join(words)}"
    shutil.rmtree(tmp_path, ignore_errors=True)
