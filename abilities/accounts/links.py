"""Links to the page on which a person connects an account: a link for each wish, good once and for minutes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from core.credentials.own_tokens import OwnTokens
from core.credentials.secret_keys import SecretKeys
from core.credentials.types import Ability
from core.db.database import Connection, Database
from core.json_types import Json, JsonObject
from core.messaging.visible_text import plain_words
from core.people.chat_names import channel_name, language_in, masked

PATH = "/connect"
CALLBACK = f"{PATH}/callback"
VALID = timedelta(minutes=15)
MAX_LINKS = 20
"""Links of a person in a day."""
MAX_TRIES = 8
"""Passwords that may be tried by a link."""


class Begun(StrEnum):
    """Whether a browser may go on with a link."""

    BEGUN = "begun"
    TAKEN = "taken"
    """Another browser went on with it before."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class ConnectLink:
    """A link that is still good. `service` is empty if the person chooses; `account_name`: to renew, or to give.

    `channel`, `sender` and `person` name its receiver, as the page shows it; they are plain text.
    """

    tenant_id: str
    token_hash: bytes
    service: str
    account_name: str
    abilities: frozenset[Ability]
    conversation_id: str | None
    person: str = ""
    channel: str = ""
    sender: str = ""
    language: str | None = None


class ConnectLinkStore:
    """Make links and look them up. Without a `public_url` there is no page, and so no link.

    `keys` make the check sums of links and states: a link that is not ours is not looked up.
    """

    def __init__(self, database: Database, public_url: str, keys: SecretKeys) -> None:
        self.database = database
        self.public_url = public_url.rstrip("/")
        self.tokens = OwnTokens.of(keys, "connect link", plain=True)
        self.states = OwnTokens.of(keys, "connect state")

    @property
    def callback(self) -> str:
        """Return the address to which servers send a browser back."""
        return f"{self.public_url}{CALLBACK}"

    async def make(
        self,
        tenant_id: str,
        conversation_id: str | None,
        now: datetime,
        *,
        service: str = "",
        account_name: str = "",
        abilities: Sequence[Ability] = (),
    ) -> str | None:
        """Return a new link; None if the person had too many today, or there is no page."""
        if not self.public_url:
            return None
        token = self.tokens.make(tenant_id)
        link: JsonObject = {
            "token_hash": token_hash(token).hex(),
            "conversation_id": conversation_id,
            "service": service,
            "account_name": account_name,
            "abilities": [ability.value for ability in abilities],
            "expires_at": (now + VALID).isoformat(),
        }
        kept = await self.database.one(
            "select keep_connect_link($1,$2,$3,$4,$5) as kept", tenant_id, link, now, now - timedelta(days=1), MAX_LINKS
        )
        return f"{self.public_url}{PATH}/{token}" if kept["kept"] else None

    async def read(self, token: str, now: datetime) -> ConnectLink | None:
        """Return the contents of a link; None if it is not ours, used, or too old. It uses nothing up."""
        return await self._find(token_hash(token), None, now) if self.tokens.is_ours(token) else None

    async def read_state(self, state_token: str, now: datetime) -> ConnectLink | None:
        """Return the link for which a server answers under this state."""
        return await self._find(None, token_hash(state_token), now) if self.states.is_ours(state_token) else None

    async def language(self, *, token: str = "", state_token: str = "") -> str:
        """Return the language of the person for whom a link was made, even if it is over; empty if unknown."""
        hashed = token_hash(token) if self.tokens.is_ours(token) else None
        state = token_hash(state_token) if self.states.is_ours(state_token) else None
        found = await self._found(hashed, state) if hashed or state else None
        if found is None:
            return ""
        async with self.database.tenant(found[0]) as connection:
            return await language_in(connection, found[0])

    async def begin(
        self,
        link: ConnectLink,
        browser: str,
        state_token: str,
        key_version: int | None,
        sealed: bytes | None,
        now: datetime,
    ) -> Begun:
        """Bind a link to a browser, and to the only answer that it waits for now."""
        row = await self.database.one(
            "select begin_connect($1,$2,$3,$4,$5,$6,$7) as begun",
            link.tenant_id,
            link.token_hash,
            token_hash(browser),
            token_hash(state_token) if state_token else None,
            key_version,
            sealed,
            now,
        )
        return Begun(row["begun"])

    async def take_answer(
        self, link: ConnectLink, state_token: str, browser: str, now: datetime
    ) -> tuple[int, bytes] | None:
        """Take the answer under a state, once; None for another browser. Return its proof, sealed."""
        async with self.database.tenant(link.tenant_id) as connection:  # never repeated: it works once
            row = await connection.fetchrow(
                "update connect_links l set state_hash = null, sealed = null"
                " from (select o.token_hash, o.key_version, o.sealed from connect_links o"
                "  where o.tenant_id = $1 and o.state_hash = $2 for update) o"
                " where l.tenant_id = $1 and l.token_hash = o.token_hash and l.state_hash = $2"
                " and l.browser_hash = $3 and l.done_at is null and l.expires_at > $4"
                " returning o.key_version, o.sealed",
                link.tenant_id,
                token_hash(state_token),
                token_hash(browser),
                now,
            )
        return (row["key_version"], row["sealed"]) if row else None

    async def count_try(self, link: ConnectLink) -> bool:
        """Count a password that is about to be tried; return False if there were too many."""
        within = await self.database.repeat(
            link.tenant_id,
            "update connect_links set tries = tries + 1 where tenant_id = $1 and token_hash = $2 and tries < $3"
            " returning tries",
            link.token_hash,
            MAX_TRIES,
        )
        return bool(within)

    async def finish(self, link: ConnectLink, account: JsonObject, message: Json, now: datetime) -> bool:
        """Store the account and end the link; return False if it was over already."""
        row = await self.database.one(
            "select finish_connect($1,$2,$3,$4,$5) as done", link.tenant_id, link.token_hash, account, [message], now
        )
        return bool(row["done"])

    async def _find(self, token: bytes | None, state: bytes | None, now: datetime) -> ConnectLink | None:
        found = await self._found(token, state)
        if found is None:
            return None
        async with self.database.tenant(found[0]) as connection:
            return await _read(connection, *found, now)

    async def _found(self, token: bytes | None, state: bytes | None) -> tuple[str, bytes] | None:
        """Return whose a link is, and its hash."""
        row = await self.database.call("select * from find_connect_link($1,$2)", token, state)
        return (row["tenant_id"], row["token_hash"]) if row else None


async def _read(connection: Connection, tenant_id: str, hashed: bytes, now: datetime) -> ConnectLink | None:
    row = await connection.fetchrow(
        "select l.*, t.name as person, i.channel, i.user_key, i.name as sender from connect_links l"
        " join tenants t on t.tenant_id = l.tenant_id"
        " left join conversations c on c.tenant_id = l.tenant_id and c.id = l.conversation_id"
        " left join identities i on i.tenant_id = l.tenant_id and i.id = c.identity_id"
        " where l.tenant_id = $1 and l.token_hash = $2 and l.done_at is null and l.expires_at > $3",
        tenant_id,
        hashed,
        now,
    )
    if row is None:
        return None
    return ConnectLink(
        tenant_id,
        hashed,
        row["service"],
        row["account_name"],
        frozenset(Ability(ability) for ability in row["abilities"]),
        row["conversation_id"],
        plain_words(row["person"] or row["sender"] or ""),
        channel_name(row["channel"]) if row["channel"] else "",
        masked(row["user_key"]) if row["user_key"] else "",
        await language_in(connection, tenant_id),
    )


def token_hash(token: str) -> bytes:
    """Return the stored hash of a link's end, of a state, and of a browser's cookie."""
    return hashlib.sha256(b"onevalet connect " + token.encode()).digest()
