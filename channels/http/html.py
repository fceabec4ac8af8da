"""Pages as text: every value is escaped, and a page can run nothing. Pure."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape

STYLE = """
:root{color-scheme:light dark;--page:#e9ecf1;--card:#fff;--soft:#f3f5f8;--ink:#1b1f27;--muted:#5d6675;--line:#d9dee6;
--edge:#868f9d;--accent:#3b5bdb;--on-accent:#fff;--good:#17713a;--good-back:#dff4e5;--bad:#b3261e;--bad-back:#fde7e5;
--shadow:0 1px 2px rgb(20 25 40/8%),0 8px 24px rgb(20 25 40/7%)}
@media(prefers-color-scheme:dark){:root{--page:#0f1217;--card:#191d24;--soft:#222730;--ink:#e8ebf0;--muted:#9aa4b4;
--line:#313845;--edge:#6d788a;--accent:#8ea6ff;--on-accent:#10142a;--good:#7fdba0;--good-back:#163625;--bad:#ff9d94;
--bad-back:#43201e;--shadow:0 1px 2px rgb(0 0 0/50%),0 8px 24px rgb(0 0 0/35%)}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:32rem;margin:0 auto;padding:min(6vh,3rem) 1rem 3rem}
.brand{margin:0 0 .75rem .25rem;font-size:1.05rem;font-weight:700;letter-spacing:-.01em}
.card{background:var(--card);border-radius:16px;padding:1.5rem;box-shadow:var(--shadow)}
h1{font-size:1.4rem;line-height:1.25;letter-spacing:-.01em;margin:0 0 .75rem;overflow-wrap:anywhere}
p{margin:.6rem 0;overflow-wrap:anywhere}
a{color:var(--accent);text-underline-offset:2px}
.soft,small{color:var(--muted);font-size:.9rem}
.whose{background:var(--soft);border-radius:12px;padding:.7rem 1rem;margin:0 0 1rem}
.whose p{margin:0}
.bad,.good{border-radius:10px;padding:.6rem .8rem;font-weight:600}
.bad{color:var(--bad);background:var(--bad-back)}
.good{color:var(--good);background:var(--good-back)}
ul{margin:.4rem 0 1rem;padding-left:1.3rem}
li{margin:.2rem 0}
label{display:block;margin:1rem 0 .3rem;font-weight:600}
label.tick{display:flex;gap:.8rem;align-items:center;font-weight:400;min-height:48px;margin:.5rem 0;
padding:.55rem .9rem;border:1px solid var(--line);border-radius:12px;cursor:pointer}
label.tick input{width:22px;height:22px;flex:none;margin:0;accent-color:var(--accent)}
label.tick:has(:checked){border-color:var(--accent)}
input:not([type=checkbox]),select{width:100%;font:inherit;color:inherit;background:var(--card);
border:1px solid var(--edge);border-radius:10px;padding:.6rem .75rem;min-height:48px}
input::placeholder{color:var(--muted);opacity:1}
input[aria-invalid]{border-color:var(--bad);box-shadow:0 0 0 1px var(--bad)}
.row{display:grid;grid-template-columns:minmax(0,2.4fr) minmax(0,.9fr) minmax(0,1.5fr);gap:.6rem}
.part{margin:0;font-weight:400}
.part span{display:block;color:var(--muted);font-size:.9rem}
@media(max-width:30rem){.card{padding:1.25rem 1.1rem}.row{grid-template-columns:minmax(0,2fr) minmax(0,3fr)}
.row>:first-child{grid-column:1/-1}}
fieldset{border:0;margin:1.3rem 0 0;padding:0;min-width:0}
legend{font-weight:600;padding:0;margin-bottom:.15rem}
button{display:block;width:100%;min-height:52px;margin-top:1.2rem;border:0;border-radius:12px;background:var(--accent);
color:var(--on-accent);font:inherit;font-weight:600;padding:.7rem 1rem;cursor:pointer}
button.other{background:var(--card);color:var(--ink);border:1px solid var(--line);margin-top:.6rem;text-align:left;
font-weight:400}
button.other b,button.other small,.tick b,.tick small{display:block}
button.other:hover{border-color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
""".strip()
STYLE_HASH = "sha256-" + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()


class Html(str):
    """Text that is HTML already; any other text is escaped where it enters a page."""

    __slots__ = ()


NOTHING = Html("")


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
    card = joined(tag("p", "OneValet", class_="brand"), tag("section", tag("h1", title), *inside, class_="card"))
    return f"<!doctype html>{tag('html', tag('head', head), tag('body', tag('main', card)), lang=language or 'en')}\n"


def headers(*form_targets: str) -> dict[str, str]:
    """Return the headers of a page. `form_targets`: origins to which its form may lead, besides our own.

    A browser holds the redirect behind a form against `form-action`, too.
    """
    allowed = " ".join(["'self'", *form_targets])
    policy = (
        f"default-src 'none'; style-src '{STYLE_HASH}'; form-action {allowed}; frame-ancestors 'none'; base-uri 'none'"
    )
    return guarded(policy)


def guarded(policy: str) -> dict[str, str]:
    """Return the headers that every page has, with its own policy for content."""
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",  # with no policy at all, browsers do not send a form's origin either
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "X-Robots-Tag": "noindex",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
