"""The tokens by which other programs of a person's ask their assistant: made, found, listed and revoked."""

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.credentials.own_tokens import OwnTokens
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.ids import PARTITION, IdMaker, for_person

LIFE = timedelta(days=90)
"""The lifetime of the tokens that people and operators make."""
MAX_TOKENS = 20
"""Valid tokens of a person."""
MAX_NAME = 60
FOREVER = datetime.max.replace(tzinfo=UTC)
_TOKEN = re.compile(rf"{PARTITION}ovt_[\w-]{{43}}")
_PURPOSE = b"onevalet client tokens"


@dataclass(frozen=True, slots=True)
class ClientToken:
    """A token as its person is shown it; `id` also names its program's conversation."""

    id: str
    number: int
    name: str
    made_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = None
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Client:
    """A program that has proved itself by a token of the person's."""

    tenant_id: str
    token_id: str
    name: str
    number: int


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token. `secret` is shown once and kept nowhere."""

    number: int
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClientTokens:
    """Keep tokens. `keys`: the first hashes, all find, so that tokens outlive a change of keys."""

    database: Database
    make_id: IdMaker
    keys: Sequence[bytes] = field(default=(), repr=False)

    @classmethod
    def of(cls, database: Database, make_id: IdMaker, keys: SecretKeys) -> "ClientTokens":
        """Return the tokens whose hashes are keyed with ONEVALET_SECRET_KEYS, by a key of their own."""
        return cls(database, make_id, [hmac.digest(key.value, _PURPOSE, "sha256") for key in keys.all])

    @property
    def _own(self) -> OwnTokens:
        return OwnTokens.under(self.keys, "client token")

    def shows_ours(self, secret: str) -> bool:
        """Return whether a token is known as ours without a query, even if it was revoked since."""
        return bool(_TOKEN.fullmatch(secret)) and self._own.is_ours(secret)

    async def make(
        self, tenant_id: str, name: str, now: datetime, good_for: timedelta | None, id: str | None = None
    ) -> MadeToken | None:
        """Create a token; None if the person has too many, or has a token with this id.

        `good_for`: its lifetime; None for a token that is valid until revoked.
        """
        secret = self._own.make(tenant_id, "ovt_")
        row = await self.database.one(
            "select * from keep_client_token($1,$2,$3,$4,$5,$6,$7,$8)",
            tenant_id,
            for_person(tenant_id, id or self.make_id("mcp")),
            for_person(tenant_id, self.make_id("idn")),
            name.strip()[:MAX_NAME] or "program",
            _hash(self.keys[0], secret),
            now,
            FOREVER if good_for is None else now + good_for,
            MAX_TOKENS,
        )
        return MadeToken(row["number"], secret) if row["made"] else None

    async def client(self, secret: str, now: datetime) -> Client | None:
        """Return the program with this token, noting its use; None if the token is not valid.

        It is found by its keyed hash, so the duration reveals nothing about any token.
        """
        if not self.shows_ours(secret):
            return None
        hashes = [_hash(key, secret) for key in self.keys]
        found = await self.database.call("select * from find_client_token($1)", hashes)
        if found is None:
            return None
        tenant_id, token_id = found["tenant_id"], found["token_id"]
        used = await self.database.repeat(
            tenant_id,
            "update client_tokens set uses = uses + 1, last_used_at = $3"
            " where tenant_id = $1 and id = $2 and revoked_at is null and expires_at > $3 returning name, number",
            token_id,
            now,
        )
        return Client(tenant_id, token_id, used[0]["name"], used[0]["number"]) if used else None

    async def list(self, tenant_id: str, now: datetime) -> Sequence[ClientToken]:
        """Return a person's good tokens, the oldest first."""
        rows = await self.database.tenant_rows(
            tenant_id,
            "select id, number, name, made_at, expires_at, last_used_at, uses from client_tokens"
            " where tenant_id = $1 and revoked_at is null and expires_at > $2 order by number",
            now,
        )
        return [
            ClientToken(
                row["id"],
                row["number"],
                row["name"],
                row["made_at"],
                None if row["expires_at"].year >= FOREVER.year else row["expires_at"],
                row["last_used_at"],
                row["uses"],
            )
            for row in rows
        ]

    async def revoke(self, tenant_id: str, number: int, now: datetime) -> str | None:
        """Revoke a token; return the name of its program, None if no valid token has the number."""
        row = await self.database.call("select revoke_client_token($1,$2,$3) as name", tenant_id, number, now)
        return row["name"] if row else None


def _hash(key: bytes, secret: str) -> bytes:
    return hmac.digest(key, secret.encode(), "sha256")
