"""Receipts and files of them, made by hand."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from abilities.receipts.keys import SigningKey
from abilities.receipts.receipts_file import Head, written
from abilities.receipts.types import Days, Receipt
from core.approvals.seal import seal
from core.json_types import JsonObject, canonical_hash

KEY = SigningKey.of(b"k" * 32)
BEGAN = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)
EXPIRES = datetime(2026, 10, 1, 9, 30, tzinfo=UTC)
HEAD = Head("tn_ada", Days(date(2026, 10, 1), date(2026, 10, 31)), BEGAN, "0.1.0")


def card_of(arguments: JsonObject, tool: str = "pay") -> JsonObject:
    """Return the card of a call, as `receipt_card` makes it."""
    sealed = seal("tn_ada", "tn_ada", tool, arguments)
    return {
        "approval": "apr_1",
        "code": "7K",
        "summary": "Pay",
        "text": "**7K: Pay**",
        "shown": [["Amount", "5"]],
        "risk": "",
        "hash": sealed.hash(EXPIRES),
        "sealed": sealed.head + "2026-10-01T09:30:00Z" + sealed.tail,
        "sent_on": "sms",
        "sent_at": "2026-10-01T09:00:00.000000Z",
        "how": "code",
        "decided_on": "sms",
        "decided_at": "2026-10-01T09:01:00.000000Z",
        "decided_by": {"channel": "sms", "address": "+15550000001", "name": "Ada"},
    }


def told(number: int, **changed: Any) -> dict[str, Any]:
    """Return a receipt as `receipt_of` makes it; the number says when it began."""
    at = BEGAN + timedelta(minutes=number)
    arguments: JsonObject = {"amount": number}
    receipt: dict[str, Any] = {
        "number": f"{number:04x}-0000-0000",
        "at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "ended_at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "turn": f"turn_{number}",
        "asked_on": "sms",
        "kind": "tool",
        "tool": "pay",
        "effect": "once",
        "outcome": "ok",
        "arguments_hash": canonical_hash(arguments),
        "key": f"turn_{number}.0.1",
        "asked": "{}",
        "card": card_of(arguments),
        "consent": None,
        "sent": [],
        "answer": {"text": "Paid é 5.", "hash": "", "outputs": None, "things": []},
    }
    return receipt | changed


async def file_of(receipts: Iterable[dict[str, Any]], key: SigningKey = KEY) -> bytes:
    """Return a file of receipts."""

    async def read() -> AsyncIterator[Receipt]:
        for receipt in receipts:
            yield Receipt.read(receipt)

    return b"".join([line async for line in written(HEAD, read(), key)])
