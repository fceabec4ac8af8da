"""Links to a person's archive: for that person, valid once and for minutes."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.credentials.own_tokens import OwnTokens
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database

PATH = "/export"
VALID = timedelta(minutes=15)
MAX_LINKS = 5
"""Links for a person in a day."""


@dataclass(frozen=True, slots=True)
class LinkedPerson:
    """The person of a link's archive."""

    tenant_id: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class ExportLinks:
    """Make links, and use them up. Without a `public_url` there are no links.

    `keys` make their check sums, so that foreign tokens are not looked up.
    """

    database: Database
    public_url: str
    keys: SecretKeys = field(repr=False)

    @property
    def tokens(self) -> OwnTokens:
        return OwnTokens.of(self.keys, "export link", plain=True)

    async def link(self, tenant_id: str, now: datetime) -> str | None:
        """Return a new link for a person; None if they had too many today."""
        token = self.tokens.make(tenant_id)
        row = await self.database.call(
            "select keep_export_link($1,$2,$3,$4,$5,$6) as kept",
            tenant_id,
            _hash(token),
            now,
            now + VALID,
            now - timedelta(days=1),
            MAX_LINKS,
        )
        return f"{self.public_url.rstrip('/')}{PATH}/{token}" if row and row["kept"] else None

    async def find(self, token: str, now: datetime) -> LinkedPerson | None:
        """Return the person of a valid link. Looking uses nothing up: chats open links to preview them."""
        if not self.tokens.is_ours(token):
            return None
        found = await self.database.call("select tenant_id from find_export_link($1)", _hash(token))
        if found is None:
            return None
        row = await self.database.tenant_row(
            found["tenant_id"],
            "select t.language from export_links l join tenants t using (tenant_id)"
            " where l.tenant_id = $1 and l.token_hash = $2 and l.used_at is null and l.expires_at > $3",
            _hash(token),
            now,
        )
        return None if row is None else LinkedPerson(found["tenant_id"], row["language"] or None)

    async def use(self, token: str, now: datetime) -> LinkedPerson | None:
        """Use a link up; return its person, or None if it is not valid."""
        person = await self.find(token, now)
        if person is None:
            return None
        # Not repeated: after a lost answer the link is gone, and its person asks for another.
        async with self.database.tenant(person.tenant_id) as connection:
            used = await connection.fetchval("select use_export_link($1,$2,$3)", person.tenant_id, _hash(token), now)
        return person if used else None


def _hash(token: str) -> bytes:
    return hashlib.sha256(b"onevalet export " + token.encode()).digest()
