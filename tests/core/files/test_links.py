"""Links to files: what proves them, what ends them, and what a file is declared as."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.credentials.secret_keys import SecretKey, SecretKeys
from core.files.content_types import content_type_of
from core.files.links import PATH, FileLinks, LinkedFile

NOW = datetime(2027, 1, 1, tzinfo=UTC)
URL = "https://valet.example.com"
FILE = LinkedFile("tn_01j9abc", "f0123456789")


def links(*names: str) -> FileLinks:
    return FileLinks.of(SecretKeys(SecretKey(name, name.encode() * 32) for name in names), URL + "/")


def token_of(made: FileLinks) -> str:
    return made.make(FILE.tenant_id, FILE.file_id, NOW).removeprefix(URL + PATH)


def test_a_link_is_good_for_its_file_until_it_expires() -> None:
    token = token_of(links("a"))
    assert links("a").read(token, NOW + timedelta(days=7, seconds=-1)) == FILE
    assert links("a").read(token, NOW + timedelta(days=7)) is None
    assert not set(token) & set("_*~`/"), "nothing that marks emphasis, and one part of a path"


def test_a_link_outlives_a_new_key_and_ends_with_its_own() -> None:
    token = token_of(links("a"))
    assert links("b", "a").read(token, NOW) == FILE
    assert links("b").read(token, NOW) is None


@given(st.integers(0, 200), st.sampled_from("0123456789abcdef.-fz"))
def test_promise_12_no_changed_link_is_good(place: int, letter: str) -> None:
    token = token_of(links("a"))
    place %= len(token)
    changed = token[:place] + letter + token[place + 1 :]
    assert changed == token or links("a").read(changed, NOW) is None


def test_a_link_has_one_spelling() -> None:
    tenant, file, until, proof = token_of(links("a")).split(".")
    spellings = [(tenant, file, f"{'0' * zeros}{until}", proof) for zeros in (1, 2)]
    spellings += [(tenant.replace("-", "_"), file, until, proof), (tenant, file, until.upper(), proof)]
    spellings += [(tenant, file.upper(), until, proof), (tenant, file, until, proof.upper())]
    read = [links("a").read(".".join(parts), NOW) for parts in spellings if ".".join(parts) != token_of(links("a"))]
    assert len(read) >= 5
    assert [one for one in read if one is not None] == []


@pytest.mark.parametrize("token", ["", "." * 3, "a" * 400, "tn.f0123456789.0.é" + "0" * 31, "../../etc/passwd"])
def test_rubbish_is_no_link(token: str) -> None:
    assert links("a").read(token, NOW) is None


@pytest.mark.parametrize(
    ("data", "name", "declared", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "evil.html", "text/html", "image/png"),
        (b"<html>", "a.png", "image/png", "application/octet-stream"),
        (b"a,b", "a.csv", None, "text/csv"),
        (b"BEGIN:VCALENDAR", "a.ics", None, "text/calendar"),
        (b"words", "a.txt", "text/plain; charset=utf-8", "text/plain"),
        (b"words", "a", "no type\r\nX: y", "application/octet-stream"),
    ],
)
def test_the_first_bytes_say_what_a_file_is(data: bytes, name: str, declared: str | None, kind: str) -> None:
    assert content_type_of(data, name, declared) == kind
