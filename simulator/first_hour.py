"""The steps to a real phone number as a page: docs/first-hour.md, rendered, one click from the simulator's own page."""

from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

_STEPS = Path(__file__).parents[1] / "docs" / "first-hour.md"
_PAGE = """\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>The first hour</title>
    <link rel="icon" href="/page/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/page/tokens.css">
    <link rel="stylesheet" href="/page/base.css">
    <link rel="stylesheet" href="/page/steps.css">
  </head>
  <body class="steps">
    <main>
      <p><a href="/">Back to the simulator</a></p>
{steps}
    </main>
  </body>
</html>
"""


def steps_page() -> str:
    """Return the page. Links to other documents, which are not served here, become their text."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_STEPS.read_text(encoding="utf-8"))
    for token in tokens:
        token.children = _without_inner_links(token.children) if token.children else token.children
    return _PAGE.format(steps=reader.renderer.render(tokens, reader.options, {}))


def _without_inner_links(children: list[Token]) -> list[Token]:
    kept, is_dropped = [], False
    for child in children:
        if child.type == "link_open":
            is_dropped = "://" not in str(child.attrGet("href"))
        if child.type in ("link_open", "link_close") and is_dropped:
            continue
        kept.append(child)
    return kept
