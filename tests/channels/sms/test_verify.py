"""Our verifier beside the official one: the same on what is well-formed, and never an exception."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import MultiDict
from twilio.request_validator import RequestValidator

from channels.sms.verify import is_signed, sign
from tests.channels.sms.builders import signature, webhook
from tests.channels.sms.hostile import resplit

TOKEN = "secret-token"
PAIRS = (("AccountSid", "AC1"), ("Body", "hi"), ("From", "+15551234567"))
URL = "https://valet.example.com/webhooks/sms"

names = st.from_regex(r"[A-Z][A-Za-z0-9]{0,12}", fullmatch=True)
values = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
forms = st.dictionaries(names, values, max_size=8)
repeating = st.lists(st.tuples(st.sampled_from(["Body", "From", "NumMedia"]), st.text("ab", max_size=1)), max_size=8)
"""Forms of fields that come again, with another value or the same."""
urls = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["https", "http"]),
    st.sampled_from(["valet.example.com", "a.b", "127.0.0.1"]),
    st.sampled_from(["", ":443", ":80", ":8080"]),
    st.sampled_from(["/webhooks/sms", "/webhooks/sms/status", "/p%C3%A4th"]),
    st.sampled_from(["", "?ref=msg_01", "?a=1&b=%20"]),
)


@given(urls, forms)
@settings(deadline=None)
def test_promise_12_agrees_with_the_official_validator_on_signed_requests(url: str, form: dict[str, str]) -> None:
    official = RequestValidator(TOKEN)
    signature = official.compute_signature(url, form)
    assert sign(TOKEN, url, form.items()) == signature
    assert is_signed(TOKEN, url, form.items(), signature)
    assert official.validate(url, form, signature)


@given(urls, repeating)
@settings(deadline=None)
def test_promise_12_agrees_with_the_official_validator_on_repeated_fields(
    url: str, pairs: list[tuple[str, str]]
) -> None:
    signature = RequestValidator(TOKEN).compute_signature(url, MultiDict(pairs))
    assert sign(TOKEN, url, pairs) == signature
    assert is_signed(TOKEN, url, reversed(pairs), signature)


@given(urls, urls, forms, forms, st.sampled_from([TOKEN, "other"]))
@settings(deadline=None)
def test_promise_12_verification_agrees_with_twilios_own_validator(
    signed_url: str, url: str, signed: dict[str, str], form: dict[str, str], token: str
) -> None:
    signature = RequestValidator(token).compute_signature(signed_url, signed)
    expected = RequestValidator(TOKEN).validate(url, form, signature)
    assert is_signed(TOKEN, url, form.items(), signature) is expected


@given(st.text(), st.lists(st.tuples(st.text(), st.text())), st.one_of(st.none(), st.text()), st.text())
@settings(deadline=None)
def test_promise_12_never_raises_and_never_believes_noise(
    url: str, pairs: list[tuple[str, str]], signature: str | None, token: str
) -> None:
    assert is_signed(token, url, pairs, signature) is False


@given(st.binary(max_size=60))
@settings(deadline=None)
def test_promise_12_never_raises_on_any_bytes_in_the_header(raw: bytes) -> None:
    assert is_signed(TOKEN, URL, PAIRS, raw.decode("utf-8", "surrogateescape")) is False
    assert is_signed(TOKEN, URL, PAIRS, raw.decode("latin-1")) is False


@pytest.mark.parametrize(
    ("signed", "called"),
    [
        ("https://h.example/webhooks/sms", "https://h.example:443/webhooks/sms"),
        ("https://h.example:443/webhooks/sms", "https://h.example/webhooks/sms"),
        ("http://h.example:80/webhooks/sms", "http://h.example/webhooks/sms"),
        ("https://u:p@h.example/webhooks/sms", "https://u:p@h.example:8443/webhooks/sms"),
        ("https://[::1]/webhooks/sms", "https://[::1]:8443/webhooks/sms"),
    ],
)
def test_accepts_the_url_with_and_without_its_port(signed: str, called: str) -> None:
    assert is_signed(TOKEN, called, PAIRS, sign(TOKEN, signed, PAIRS))


@pytest.mark.parametrize(
    "url",
    ["https://h.example:99999/x", "https://[::1/x", "https://h.example:abc/x", "", "/only/a/path", "\ud800"],
)
def test_promise_12_a_url_that_is_none_is_not_signed(url: str) -> None:
    assert is_signed(TOKEN, url, PAIRS, "c2lnbmF0dXJl") is False


@pytest.mark.parametrize(
    "changed",
    [
        (("AccountSid", "AC1"), ("Body", "hi!"), ("From", "+15551234567")),
        (("AccountSid", "AC1"), ("Body", "hi")),
        (("AccountSid", "AC1"), ("Body", "hi"), ("From", "+15551234567"), ("Zone", "1")),
        (("accountSid", "AC1"), ("Body", "hi"), ("From", "+15551234567")),
    ],
)
def test_promise_12_any_change_breaks_the_signature(changed: tuple[tuple[str, str], ...]) -> None:
    assert is_signed(TOKEN, URL, changed, sign(TOKEN, URL, PAIRS)) is False


@pytest.mark.parametrize("signature", [None, "", " ", "é" * 28, "A" * 28, "A" * 4000])
def test_promise_12_a_missing_or_odd_header_is_not_signed(signature: str | None) -> None:
    assert is_signed(TOKEN, URL, PAIRS, signature) is False


def test_promise_12_without_a_token_nothing_is_signed() -> None:
    assert is_signed("", URL, PAIRS, sign("", URL, PAIRS)) is False


def test_promise_12_the_resplit_cases_do_carry_a_right_signature() -> None:
    for text, (first, value, second, rest) in {
        "Dinner on Friday?": ("Body", "", "Dinner on Friday?", ""),
        "Dinner or Drinks on Friday?": ("Body", "Dinner or ", "Drinks", " on Friday?"),
        "yes": ("Bod", "yyes", "Zed", ""),
    }.items():
        moved = [pair for pair in resplit(first, value, second, rest) if pair != ("Zed", "")]
        assert signature(moved) == signature(webhook(Body=text))
