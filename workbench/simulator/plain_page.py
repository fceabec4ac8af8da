"""A page of text beside the simulator's own page, in its style, with a way back to it."""

from html import escape

_PAGE = """\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{title}</title>
    <link rel="icon" href="/page/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/page/tokens.css">
    <link rel="stylesheet" href="/page/base.css">
    <link rel="stylesheet" href="/page/steps.css">
  </head>
  <body class="steps">
    <main>
      <p><a href="/">Back to the simulator</a></p>
{body}
    </main>
  </body>
</html>
"""


def plain_page(title: str, body: str = "") -> str:
    """Return the page. `body` is HTML; without a body, the page has only its title."""
    return _PAGE.format(title=escape(title), body=body or f"<h1>{escape(title)}</h1>")
