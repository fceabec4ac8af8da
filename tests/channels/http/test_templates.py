"""One engine for all pages: HTML in a value is text, in every template of the product."""

import re
from itertools import chain
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from channels.http.pages.templates import Templates
from core.language.catalogue import speaking
from workbench.pages.catalogues import PACKAGES, ROOT

EVIL = "<img src=x onerror=alert(1)>\"'"
PRODUCT = [ROOT / package for package in PACKAGES if package != "workbench"]
MADE_HTML = {"operations/console/rendering.py", "operations/console/charts.py"}
"""Modules whose values are HTML already: Markdown by a parser that escapes, and charts."""


def files(pattern: str) -> list[Path]:
    """Return the product's files of a pattern."""
    return sorted(chain.from_iterable(package.rglob(pattern) for package in PRODUCT))


def test_each_template_escapes_what_it_shows() -> None:
    pages = files("*.html")
    assert len(pages) > 30
    assert {path.parent.name for path in pages} == {"templates"}
    assert [path.name for path in pages if re.search(r"\|\s*safe\b|autoescape|\bMarkup\b", path.read_text())] == []


def test_pages_come_from_templates_and_from_no_other_code() -> None:
    marked, written = set(), set()
    for path in files("*.py"):
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        marked |= {name} if "Markup(" in text or "jinja2" in text else set()
        written |= {name} if re.search(r"<(html|form|button|input)\b", text, re.IGNORECASE) else set()
    assert marked == {"channels/http/pages/templates.py", *MADE_HTML}
    assert written == {"notify/email/html.py"}, "a mail, which is no page"


def test_an_unknown_name_is_an_error_and_html_is_text(tmp_path: Path) -> None:
    (tmp_path / "hello.html").write_text(
        '{% extends "alone.html" %}{% block title %}{{ name }}{% endblock %}'
        '{% block card %}{{ gettext("It can: {what}.", what=name) }}<i id="{{ name }}"></i>{% endblock %}'
    )
    templates = Templates(tmp_path)
    with speaking("de-AT"):
        page = templates.page("hello.html", {"name": EVIL}).text or ""
    assert page.count("&lt;img src=x onerror=alert(1)&gt;&#34;&#39;") == 4
    assert "<img" not in page
    assert '<html lang="de">' in page
    with pytest.raises(UndefinedError, match="'name' is undefined"):
        templates.page("hello.html", {})
