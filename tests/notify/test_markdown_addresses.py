"""A web address that stands bare in a text arrives letter for letter on every channel that reads Markdown."""

import html
import secrets
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notify.email.html import body_html
from notify.plain_markdown import to_plain
from notify.telegram.markdown import to_rich
from tests.examples import examples

READERS: dict[str, Callable[[str], str]] = {
    "sms": to_plain,
    "telegram": lambda text: to_rich(text).text,
    "email": lambda text: html.unescape(body_html(text)),
}
TOKEN = "https://valet.example.org/console/sign-in/WX_FQ90EenlFjTVQu0vLQdW2EN-_oYJ7rLKvUZg5FBM_-x"
SENTENCES = {
    f"Open this: {TOKEN}": TOKEN,
    f"**Open** _this_: {TOKEN}.": TOKEN,
    f"- {TOKEN}\n- a": TOKEN,
    f"**{TOKEN}**": TOKEN,
    f"({TOKEN})": TOKEN,
    "See https://a.example/*b*/~~c~~?x=&copy;1&y=\\_z_ now": "https://a.example/*b*/~~c~~?x=&copy;1&y=\\_z_",
    "See https://en.wikipedia.org/wiki/Rust_(_language_) now": "https://en.wikipedia.org/wiki/Rust_(_language_)",
    "HTTPS://A.EXAMPLE/-_B_- and _more_": "HTTPS://A.EXAMPLE/-_B_-",
}
paths = st.text(st.sampled_from("aZ9-_*~/?=&;.+%#@!(),\\"), min_size=1, max_size=30).map(lambda text: f"{text}z")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", SENTENCES)
def test_a_bare_address_stays_as_it_is(text: str, reader: str) -> None:
    assert SENTENCES[text] in READERS[reader](text)


@pytest.mark.parametrize("reader", READERS)
@given(paths)
@examples(300)
def test_whatever_stands_in_an_address_stays(reader: str, path: str) -> None:
    written = READERS[reader](f"_Open_ this, https://a.example/{path} **now**")
    assert f"https://a.example/{path} " in written.replace("\n", " ").replace("<", " ")


@pytest.mark.parametrize("reader", READERS)
def test_marks_around_an_address_are_still_marks(reader: str) -> None:
    written = READERS[reader]("*https://a.example/b* and [https://a.example/c](https://a.example/c) _d_")
    assert "*" not in written
    assert "_d_" not in written
    assert "](" not in written


@pytest.mark.parametrize("reader", READERS)
def test_no_token_is_changed(reader: str) -> None:
    for _ in range(200):
        link = f"https://valet.example.org/console/sign-in/{secrets.token_urlsafe(32)}"
        assert link in READERS[reader](f"Open this within 10 minutes, in one browser: {link}")
