"""Words of others in a message that nobody asked for: they read as written, and nothing in them can be pressed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.catalogue import speaking
from core.messaging.others_words import others_words
from core.turns.links import KnownLinks, check_links


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Lunch at 12:30?", "Lunch at 12:30?"),
        ("  two\r\nlines\tand\u00a0more ", "two lines and more"),
        ("[Win](https://evil.example/a)", "\\[Win\\]((link)"),
        ("see www.evil.example now", "see (link) now"),
        ("evil.example/login and 10.0.0.1:80/x", "(link) and (link)"),
        ("your Amazon.com order", "your Amazon com order"),
        ("exa\u200bmple.com", "example com"),
        ("ask ann@example.org", "ask ann@example.org"),
        ("@evilbot says /undo", "evilbot says undo"),
        ("**now** `x` <b>", "\\*\\*now\\*\\* \\`x\\` \\<b>"),
        ("# big", "\\# big"),
        ("1. first", "1\\. first"),
        ("v3.5 and e.g. this", "v3.5 and e.g. this"),
        ("a\u202eb", "ab"),
        ("", ""),
    ],
)
def test_what_others_wrote_is_inert(written: str, read: str) -> None:
    with speaking("en"):
        assert others_words(written) == read


def test_a_long_text_is_cut_before_it_is_escaped() -> None:
    assert others_words("*" * 100, 10) == "\\*" * 9 + "…"


@given(st.text(alphabet="ab./:@[]()<>* \n\u200bwhtps", max_size=60))
def test_no_address_of_the_web_is_left(text: str) -> None:
    read = others_words(text).replace("\\", "")
    assert check_links(read, KnownLinks()).unknown == ()
    assert "\n" not in read
