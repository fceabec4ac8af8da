"""Links to answers that were held back: good for a week, and only if we made them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.credentials.own_tokens import OwnTokens
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database

PATH = "/answer"
VALID = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class AnswerLink:
    """A link to an answer. Of the end of its address only the hash is stored."""

    url: str
    token_hash: bytes


@dataclass(frozen=True, slots=True)
class LinkedAnswer:
    """An answer to be read on a page, and the language of its person."""

    text: str
    language: str


class AnswerLinks:
    """Make links, and look them up."""

    def __init__(self, database: Database, public_url: str, keys: SecretKeys) -> None:
        self._database = database
        self._public_url = public_url.rstrip("/")
        self.tokens = OwnTokens.of(keys, "answer link", plain=True)

    def of(self, tenant_id: str, outbound_id: str) -> AnswerLink:
        """Return the link to an answer, the same each time."""
        token = self.tokens.make(tenant_id, of=f"{tenant_id} {outbound_id}")
        return AnswerLink(f"{self._public_url}{PATH}/{token}", _hash(token))

    async def read(self, token: str, now: datetime) -> LinkedAnswer | None:
        """Return the answer that a link leads to; None if the link is not ours, or too old."""
        if not self.tokens.is_ours(token):
            return None
        found = await self._database.call("select * from find_answer_link($1)", _hash(token))
        if found is None:
            return None
        row = await self._database.tenant_row(
            found["tenant_id"],
            "select o.text, coalesce(t.language, '') as language from held_answers h"
            " join outbound o on o.tenant_id = h.tenant_id and o.id = h.outbound_id"
            " join tenants t on t.tenant_id = h.tenant_id"
            " where h.tenant_id = $1 and h.link_hash = $2 and h.link_until > $3",
            _hash(token),
            now,
        )
        return LinkedAnswer(row["text"], row["language"]) if row else None


def _hash(token: str) -> bytes:
    return hashlib.sha256(b"onevalet answer " + token.encode()).digest()
