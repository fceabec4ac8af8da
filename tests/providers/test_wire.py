"""What both directions agree on: what the one writes, the other reads."""

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.slack import wire as slack
from providers.sms import wire as sms
from providers.telegram import wire as telegram
from providers.utf16 import first_units, units

REFS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


@given(REFS)
def test_the_ref_of_a_status_url_is_read_back(ref: str) -> None:
    url = urlsplit(sms.status_url("https://valet.example.com", ref))
    assert url.path == sms.STATUS_PATH
    assert sms.refs_of(parse_qsl(url.query)) == [ref]


@pytest.mark.parametrize("index", [0, 9, 99])
def test_the_id_of_a_button_is_known_again(index: int) -> None:
    assert slack.is_choice(slack.choice_id(index))


@pytest.mark.parametrize("name", ["", "choice_", "choice_1000", "choice_x", "xchoice_1", "choice_1\n"])
def test_another_id_is_no_buttons(name: str) -> None:
    assert not slack.is_choice(name)


@pytest.mark.parametrize("is_token", [slack.is_token, telegram.is_token])
def test_a_token_is_1_to_64_visible_ascii_characters(is_token: Callable[[str], bool]) -> None:
    assert is_token("a" * 64)
    assert not any(map(is_token, ["", "a" * 65, "a b", "é", "a\n"]))


@given(st.text(max_size=60), st.integers(2, 40))
def test_an_escaped_text_fits_and_begins_as_the_text(text: str, limit: int) -> None:
    written = slack.escape(text, limit)
    assert units(written) <= limit
    assert text.startswith(written.removesuffix("…").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.integers(0, 20))
def test_the_first_units_are_the_longest_beginning_that_fits(text: str, limit: int) -> None:
    kept = first_units(text, limit)
    assert text.startswith(kept)
    assert units(kept) <= limit
    assert kept == text or units(text[: len(kept) + 1]) > limit
