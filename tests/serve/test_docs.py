"""Docs are rendered on the server, and nothing in them becomes HTML but what Markdown says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from innerview.serve import serve
from innerview.serve.docs.markdown import render
from innerview.serve.docs.pages import Docs

from .wirework import WAIT_S


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Title *x*", '<h1 id="title-x">Title <em>x</em></h1>'),
        ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>"),
        ("**bold** and _thin_ snake_case_name 2 * 3 * 4", None),
        ("a `<b>` c", "<p>a <code>&lt;b&gt;</code> c</p>"),
        (
            "```python\nx < 1\n# no heading\n```",
            '<pre><code class="language-python">x &lt; 1\n# no heading\n</code></pre>',
        ),
        ("```sh not run: trains\nls\n```", '<pre><code class="language-sh">ls\n</code></pre>'),
        ("- a\n- b\n  - c", "<ul><li>a</li><li>b\n<ul><li>c</li></ul></li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("> said\n> so", "<blockquote><p>said\nso</p></blockquote>"),
        ("---", "<hr>"),
        (
            "| a | b |\n| --- | :-: |\n| 1 | `x \\| y` |",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
            "<tbody><tr><td>1</td><td><code>x | y</code></td></tr></tbody></table>",
        ),
        (
            "[x](https://example.org/?a=1&b=2)",
            '<p><a href="https://example.org/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">x</a></p>',
        ),
        ("[x](other.md#part)", '<p><a role="link" tabindex="0" data-anchor="part" data-doc="lenses/other">x</a></p>'),
        ("[x](../top.md)", '<p><a role="link" tabindex="0" data-doc="top">x</a></p>'),
        ("![alt](p/a.png)", '<p><img src="/api/docs-pictures/lenses/p/a.png" alt="alt"></p>'),
    ],
)
def test_markdown(text: str, html: str | None) -> None:
    if html is None:
        html = "<p><strong>bold</strong> and <em>thin</em> snake_case_name 2 * 3 * 4</p>"
    assert render(text, "lenses/heat").replace(">\n<", "><") == html.replace(">\n<", "><")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert`1`)",
        "[x](data:text/html;base64,AAAA)",
        "[x](../../etc/passwd.md)",
        "![x](javascript:alert(1))",
        "![x](https://evil.example/pixel.png)",
        '![x" onerror="alert(1)](a.png)',
        '[x](https://e.org/"onmouseover="alert(1))',
        '# <script>"a" onclick=x',
        '```"><script>\nx\n```',
        "`<script>`",
        "| <script> | b |\n| --- | --- |\n| <img onerror=x> | c |",
        "- <iframe src=x>",
        "> <svg onload=alert(1)>",
        '<https://e.org/"><script>',
        "**<b onclick=x>**",
    ],
)
def test_no_html_of_the_writer_gets_through(text: str) -> None:
    html = render(text)
    for bad in (
        "<script",
        "<img src=x",
        "<iframe",
        "<svg",
        "<b ",
        'href="java',
        'src="java',
        'src="http',
        '" on',
        "etc/passwd",
    ):
        assert bad.lower() not in html.lower(), html


@pytest.fixture
def client(saved_study: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    folder = tmp_path / "docs"
    (folder / "lenses").mkdir(parents=True)
    (folder / "episodes.md").write_text("# Episodes\n\nWhat it *shows*.\n")
    (folder / "lenses" / "heat.md").write_text("no heading <script>\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "secret.md").write_text("# secret")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    with serve(saved_study, docs=Docs(folder)) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        with httpx.Client(base_url=f"{handle.address}api", headers=headers, timeout=WAIT_S) as client:
            yield client


def test_pages_are_listed_and_read(client: httpx.Client) -> None:
    assert client.get("/docs").json() == [
        {"slug": "episodes", "title": "Episodes"},
        {"slug": "lenses/heat", "title": "lenses/heat"},
    ]
    page = client.get("/docs/episodes").json()
    assert page["html"] == '<h1 id="episodes">Episodes</h1>\n<p>What it <em>shows</em>.</p>'
    assert "<script>" not in client.get("/docs/lenses%2Fheat").json()["html"]
    assert client.get("/docs-pictures/picture.png").headers["content-type"] == "image/png"


@pytest.mark.parametrize("slug", ["episode", "link", "../secret", "%2e%2e%2fsecret", "/etc/passwd", ""])
def test_only_listed_pages_are_given(client: httpx.Client, slug: str) -> None:
    reply = client.get(f"/docs/{slug}")
    assert reply.status_code == 404
    assert "error" in reply.json()


def test_a_checkout_shows_the_docs_that_stand_beside_the_source() -> None:
    assert Docs().page("view-map").html
