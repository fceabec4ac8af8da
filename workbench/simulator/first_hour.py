"""The steps to a real phone number as a page: docs/first-hour.md, rendered, a click from the simulator's own page."""

from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from workbench.simulator.plain_page import plain_page

_STEPS = Path(__file__).parents[2] / "docs" / "first-hour.md"


def steps_page() -> str:
    """Return the page. Links to other documents, which are not served here, become the paths of these."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_STEPS.read_text(encoding="utf-8"))
    for token in tokens:
        token.children = _with_paths(token.children) if token.children else token.children
    return plain_page("The first hour", reader.renderer.render(tokens, reader.options, {}))


def _with_paths(children: list[Token]) -> list[Token]:
    kept, path = [], ""
    for child in children:
        if child.type == "link_open":
            href = str(child.attrGet("href"))
            path = "" if "://" in href else f"docs/{href.partition('#')[0]}"
        if path and child.type == "link_close":
            kept.append(Token("code_inline", "code", 0, content=path))
            path = ""
        elif path and child.type == "text" and path.endswith(f"/{child.content}"):
            continue  # a link whose words are the document's name
        elif path and child.type == "link_open":
            continue
        else:
            kept.append(Token("text", "", 0, content=f"{child.content}, ") if path and child.type == "text" else child)
    return kept
