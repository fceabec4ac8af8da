"""Pages as text: every value is escaped, and a page can run nothing. Pure."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape

STYLE = """
:root{color-scheme:light dark;--ink:#1b1d21;--soft:#5a606b;--back:#f4f5f7;--card:#fff;--line:#c9cdd5;--do:#1f5fbf;
--on:#fff;--bad:#a3211b;--good:#1c6b37}
@media(prefers-color-scheme:dark){:root{--ink:#eceef2;--soft:#a8afbb;--back:#131519;--card:#1e2127;--line:#4a505c;
--do:#8ab4f8;--on:#10213d;--bad:#ff9d94;--good:#8fd6a5}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);
font:17px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:34rem;margin:0 auto;padding:1.5rem 1rem 4rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem}
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .75rem;overflow-wrap:anywhere}
p{margin:.6rem 0;overflow-wrap:anywhere}
.soft{color:var(--soft);font-size:.95rem}
.bad{color:var(--bad);font-weight:600}
.good{color:var(--good);font-weight:600}
ul{margin:.5rem 0;padding-left:1.3rem}
label{display:block;margin:.9rem 0 .25rem;font-weight:600}
label.tick{display:flex;gap:.7rem;align-items:center;font-weight:400;min-height:44px;margin:.2rem 0}
label.tick input{width:24px;height:24px;flex:none;margin:0}
input[type=text],input[type=password],input[type=email],input[type=url],select{width:100%;font:inherit;color:inherit;
background:var(--back);border:1px solid var(--line);border-radius:10px;padding:.65rem .75rem;min-height:48px}
.row{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,1fr) minmax(0,1.4fr);gap:.5rem}
@media(max-width:30rem){.row{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}.row>:first-child{grid-column:1/-1}}
fieldset{border:0;margin:1rem 0 0;padding:0;min-width:0}
legend{font-weight:600;padding:0}
button{display:block;width:100%;min-height:52px;margin-top:1.1rem;border:0;border-radius:12px;background:var(--do);
color:var(--on);font:inherit;font-weight:600;padding:.7rem 1rem;cursor:pointer}
button.other{background:transparent;color:var(--ink);border:1px solid var(--line);margin-top:.6rem}
:focus-visible{outline:3px solid var(--do);outline-offset:2px}
""".strip()
STYLE_HASH = "sha256-" + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()


class Html(str):
    """Text that is HTML already; any other text is escaped where it enters a page."""

    __slots__ = ()


def text(value: str) -> Html:
    """Return a value as HTML shows it."""
    return value if isinstance(value, Html) else Html(escape(value, quote=True))


def joined(*parts: str) -> Html:
    return Html("".join(text(part) for part in parts))


def tag(element: str, /, *inside: str, **attributes: str | bool | None) -> Html:
    """Return an element; `class_` and `for_` stand for the words that Python reserves."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if element in ("input", "meta"):
        return Html(f"<{element}{written}>")
    return Html(f"<{element}{written}>{joined(*inside)}</{element}>")


def items(lines: Sequence[str]) -> Html:
    return tag("ul", *(tag("li", line) for line in lines))


def page(language: str | None, title: str, *inside: str) -> str:
    """Return a whole page."""
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="robots", content="noindex"),
        tag("title", title),
        tag("style", Html(STYLE)),
    )
    card = tag("section", tag("h1", title), *inside, class_="card")
    return f"<!doctype html>{tag('html', tag('head', head), tag('body', tag('main', card)), lang=language or 'en')}\n"


def headers(*form_targets: str) -> dict[str, str]:
    """Return the headers of a page. `form_targets`: origins to which its form may lead, besides our own.

    A browser holds the redirect behind a form against `form-action`, too.
    """
    allowed = " ".join(["'self'", *form_targets])
    policy = (
        f"default-src 'none'; style-src '{STYLE_HASH}'; form-action {allowed}; frame-ancestors 'none'; base-uri 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",  # with none at all, browsers do not say where a form comes from either
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "X-Robots-Tag": "noindex",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
