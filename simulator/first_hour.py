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
    """Return the page. Links to other documents, which are not served here, become the paths of these."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_STEPS.read_text(encoding="utf-8"))
    for token in tokens:
        token.children = _with_paths(token.children) if token.children else token.children
    return _PAGE.format(steps=reader.renderer.render(tokens, reader.options, {}))


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
