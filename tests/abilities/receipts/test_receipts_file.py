"""A file of receipts is checked without the installation: whatever was changed, taken out or moved is found."""

import io
import itertools
import json
import tracemalloc
from hashlib import sha256
from typing import Any

import pytest

from abilities.receipts.keys import SigningKey, fingerprint
from abilities.receipts.receipts_file import MAX_LINE, FileRefused, Verified, verify
from core.json_types import JsonObject, canonical_json
from tests.abilities.receipts.made import HEAD, KEY, card_of, file_of, told


def checked(file: bytes) -> Verified:
    return verify(io.BytesIO(file))


def refusal(file: bytes) -> str:
    with pytest.raises(FileRefused) as refused:
        checked(file)
    return str(refused.value)


async def test_a_whole_file_is_good_and_names_its_key() -> None:
    file = await file_of([told(1), told(2, card=None), told(3, outcome="unknown")])
    verified = checked(file)
    assert (verified.receipts, verified.without_card, verified.outcomes["unknown"]) == (3, 1, 1)
    assert (verified.person, verified.first, verified.last) == ("tn_ada", "2026-10-01", "2026-10-31")
    assert verified.key == fingerprint(KEY.public) != fingerprint(SigningKey.of(b"other").public)


async def test_a_file_without_receipts_is_good() -> None:
    assert checked(await file_of([])).receipts == 0


async def test_each_single_changed_byte_is_found() -> None:
    file = await file_of([told(1), told(2)])
    changes = itertools.cycle((0x01, 0x20, 0x80))  # another character, another case, no UTF-8
    for at, change in zip(range(len(file)), changes, strict=False):
        refusal(file[:at] + bytes([file[at] ^ change]) + file[at + 1 :])


async def test_each_cut_and_each_addition_is_found() -> None:
    file = await file_of([told(1), told(2)])
    for end in range(len(file)):
        refusal(file[:end])
    for added in (b"\n", b" ", b"{}\n", file, file.splitlines(keepends=True)[-1]):
        refusal(file + added)
        refusal(added + file)
    refusal(file.replace(b"\n", b"\r\n"))


async def test_a_missing_moved_or_doubled_line_is_found() -> None:
    head, *receipts, end = (await file_of([told(number) for number in range(1, 5)])).splitlines(keepends=True)
    for at in range(4):
        refusal(b"".join([head, *receipts[:at], *receipts[at + 1 :], end]))
        refusal(b"".join([head, *receipts[: at + 1], *receipts[at:], end]))
        for other in range(at):
            moved = [*receipts]
            moved[at], moved[other] = moved[other], moved[at]
            refusal(b"".join([head, *moved, end]))
    assert "cut off" in refusal(b"".join([head, *receipts]))
    refusal(b"".join([*receipts, end]))


async def test_a_file_signed_anew_by_another_key_shows_that_key() -> None:
    """Whoever changes a receipt can sign the result, but never by the key that people compare."""
    forged = await file_of([told(1, answer=told(1)["answer"] | {"text": "Paid 500."})], SigningKey.of(b"forger"))
    assert checked(forged).key != fingerprint(KEY.public)
    theirs = (await file_of([told(1)])).splitlines(keepends=True)
    assert "signature" in refusal(b"".join([*forged.splitlines(keepends=True)[:-1], _end_of(forged, theirs[-1])]))


def _end_of(file: bytes, other: bytes) -> bytes:
    """Return the end of a file with the signature of another's."""
    end = json.loads(file.splitlines()[-1]) | {"signature": json.loads(other)["signature"]}
    return f"{canonical_json(end)}\n".encode()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"card": card_of({"amount": 1}) | {"hash": "0" * 64}}, "does not fit its hash"),
        ({"card": card_of({"amount": 1}) | {"sealed": "{}"}}, "does not fit its hash"),
        ({"arguments_hash": "0" * 64}, "other arguments than its card showed"),
        ({"tool": "refund"}, "other arguments than its card showed"),
        ({"consent": {"number": 1, "use": 1, "hash": "0" * 64, "sealed": "{}"}}, "does not fit its hash"),
        ({"outcome": "fine"}, "is no receipt"),
        ({"card": {}}, None),
        ({"card": []}, None),
        ({"card": {"approval": "a"}}, "is no receipt"),
        ({"sent": None}, "is no receipt"),
        ({"answer": "Paid."}, "is no receipt"),
    ],
)
async def test_a_receipt_that_contradicts_itself_is_refused(changed: dict[str, Any], reason: str | None) -> None:
    """Even if it was signed here: the rows behind it were changed before."""
    if reason is None:
        assert checked(await _unread([told(1, **changed)])).without_card == 1
    else:
        assert reason in refusal(await _unread([told(1, **changed)]))


async def _unread(receipts: list[dict[str, Any]]) -> bytes:
    """Return a file of receipts that need not be ones."""

    def line(told: JsonObject) -> bytes:
        return (canonical_json(told) + "\n").encode()

    lines = [line(HEAD.to_json(KEY.public))]
    for number, receipt in enumerate(receipts, 1):
        lines.append(line({"n": number, "previous": sha256(lines[-1]).hexdigest(), "receipt": receipt}))
    end: JsonObject = {"count": len(receipts), "previous": sha256(lines[-1]).hexdigest()}
    signed = KEY.sign(f"onevalet receipts 1\n{canonical_json(end)}".encode()).hex()
    return b"".join([*lines, line(end | {"signature": signed})])


async def test_a_receipt_that_comes_twice_is_refused_though_it_is_signed() -> None:
    assert "out of order, or twice" in refusal(await _unread([told(1), told(1)]))
    assert "out of order, or twice" in refusal(await _unread([told(2), told(1)]))


async def test_a_forgotten_card_is_counted_and_not_held_against_its_hash() -> None:
    card = card_of({"amount": 1}) | {"sealed": "[forgotten]", "text": "[forgotten]"}
    assert checked(await file_of([told(1, card=card)])).forgotten == 1


@pytest.mark.parametrize(
    "file", [b"", b"\n", b"{}\n", b"[]\n", b"nothing", b"PK\x03\x04", b"\xff\xfe", b"[" * 100_000, b'{"a":NaN}\n']
)
def test_another_kind_of_file_is_refused_in_a_sentence(file: bytes) -> None:
    assert refusal(file).endswith(".")


def test_a_line_without_end_is_given_up_after_its_bound() -> None:
    class Endless(io.RawIOBase):
        taken = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            assert size == MAX_LINE + 1
            self.taken += size
            return b"a" * size

    endless = Endless()
    with pytest.raises(FileRefused):
        verify(endless)  # type: ignore[arg-type]
    assert endless.taken <= MAX_LINE + 1


async def test_a_newer_format_asks_for_a_newer_onevalet() -> None:
    file = (await file_of([])).replace(b'"format":1', b'"format":2')
    assert "A newer OneValet" in refusal(file)


@pytest.mark.whole("a file of a size that few have")
async def test_ten_thousand_receipts_are_checked_in_little_memory() -> None:
    file = io.BytesIO(await file_of(told(number) for number in range(1, 10_001)))
    tracemalloc.start()
    try:
        assert verify(file).receipts == 10_000
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1_000_000, f"{most} bytes for a file of {len(file.getbuffer())}"
