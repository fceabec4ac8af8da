"""Links to the page that asks a phone where it is: good once, for minutes, and only if we made them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.credentials.own_tokens import OwnTokens
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.ids import IdMaker
from core.json_types import JsonObject
from core.messaging.places import SentPlace
from core.messaging.visible_text import plain_words
from core.people.chat_names import channel_name, language_in, masked

PATH = "/place"
VALID = timedelta(minutes=10)
MAX_LINKS = 20
"""Links of a person in a day."""


@dataclass(frozen=True, slots=True)
class PlaceLink:
    """A link that is still good. `whose`: the name and the chat of its receiver; empty if neither is known."""

    tenant_id: str
    token_hash: bytes
    language: str
    whose: str


class PlaceLinks:
    """Make links, look them up, and take the place that a phone tells."""

    def __init__(self, database: Database, public_url: str, keys: SecretKeys) -> None:
        self._database = database
        self.public_url = public_url.rstrip("/")
        self.tokens = OwnTokens.of(keys, "place link", plain=True)

    async def make(self, tenant_id: str, conversation_id: str | None, now: datetime) -> str | None:
        """Return a new link; None if the person had too many today."""
        token = self.tokens.make(tenant_id)
        kept = await self._database.one(
            "select keep_place_link($1,$2,$3,$4,$5,$6,$7) as kept",
            tenant_id,
            _hash(token),
            conversation_id,
            now,
            now + VALID,
            now - timedelta(days=1),
            MAX_LINKS,
        )
        return f"{self.public_url}{PATH}/{token}" if kept["kept"] else None

    async def read(self, token: str, now: datetime) -> PlaceLink | None:
        """Return a link; None if it is not ours, used, or too old. It uses nothing up."""
        found = await self.find(token)
        if found is None:
            return None
        async with self._database.tenant(found) as connection:
            row = await connection.fetchrow(
                "select t.name as person, i.channel, i.user_key, i.name as sender from place_links l"
                " join tenants t on t.tenant_id = l.tenant_id"
                " left join conversations c on c.tenant_id = l.tenant_id and c.id = l.conversation_id"
                " left join identities i on i.tenant_id = l.tenant_id and i.id = c.identity_id"
                " where l.tenant_id = $1 and l.token_hash = $2 and l.used_at is null and l.expires_at > $3",
                found,
                _hash(token),
                now,
            )
            if row is None:
                return None
            person = plain_words(row["person"] or row["sender"] or "")
            where = f"{channel_name(row['channel'])} {masked(row['user_key'])}" if row["channel"] else ""
            whose = f"{person} ({where})" if person and where else person or where
            return PlaceLink(found, _hash(token), await language_in(connection, found), whose)

    async def find(self, token: str) -> str | None:
        """Return the owner of a link, even an expired one; None if it is unknown."""
        if not self.tokens.is_ours(token):
            return None
        row = await self._database.call("select * from find_place_link($1)", _hash(token))
        return str(row["tenant_id"]) if row else None

    async def language(self, token: str) -> str:
        """Return the language of the person for whom a link was made, even if it is over; empty if unknown."""
        found = await self.find(token)
        if found is None:
            return ""
        async with self._database.tenant(found) as connection:
            return await language_in(connection, found)

    async def take(
        self, tenant_id: str, token: str, place: SentPlace, said: str, make_id: IdMaker, now: datetime
    ) -> tuple[bool, str | None]:
        """End a link by a phone's place; return whether it counts, and the conversation to notify."""
        message: JsonObject = {"id": make_id("out"), "kind": "receipt", "text": said}
        row = await self._database.one(
            "select * from take_linked_place($1,$2,$3,$4,$5)", tenant_id, _hash(token), place.to_json(), [message], now
        )
        return bool(row["taken"]), row["conversation_id"]


def _hash(token: str) -> bytes:
    return hashlib.sha256(b"onevalet place " + token.encode()).digest()
