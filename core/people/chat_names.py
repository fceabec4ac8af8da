"""A person's places as others may see them: the channel, the masked address, and the name."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.db.database import Connection
from core.ids import IdMaker
from core.language.catalogue import gettext, gettext_noop, listed
from core.messaging.visible_text import literal, plain_words

_CHANNELS = {
    "sms": "SMS",
    "slack": "Slack",
    "telegram": "Telegram",
    "email": gettext_noop("email"),
    "terminal": gettext_noop("the terminal"),
}
_MASK = "•••••"
_MAX_OF_NAME = 40


@dataclass(frozen=True, slots=True)
class ChatIdentity:
    """A chat identity: `user_key` is the provider's id of the person, `name` their display name there."""

    id: str
    channel: str
    user_key: str
    name: str = ""

    @property
    def shown(self) -> str:
        """Return the place as others may see it, as Markdown, such as `Telegram •••••042 (Ada)`."""
        name = literal(plain_words(self.name)[:_MAX_OF_NAME].strip())
        return f"{channel_name(self.channel)} {masked(self.user_key)}" + (f" ({name})" if name else "")


def channel_name(channel: str) -> str:
    """Return the name of a channel in a sentence."""
    return gettext(_CHANNELS.get(channel, channel))


def masked(user_key: str) -> str:
    """Return the end of an address, with the country of a phone number, such as `+1•••••0199`."""
    if user_key.startswith("+") and len(user_key) > 8:
        return f"{user_key[:2]}{_MASK}{user_key[-4:]}"
    return _MASK + user_key[-3:] if len(user_key) > 5 else _MASK


def places_in_words(places: Sequence[ChatIdentity]) -> str:
    shown = [place.shown for place in places]
    return listed(shown) if shown else gettext("another place")


async def places_of(connection: Connection, tenant_id: str) -> tuple[ChatIdentity, ...]:
    """Return the places where a person was let in, not their programs; then the connection sees this person's rows."""
    await connection.execute("select set_config('onevalet.tenant', $1, true)", tenant_id)
    rows = await connection.fetch(
        "select id, channel, user_key, name from identities"
        " where tenant_id = $1 and admitted <> '' and state_reason <> 'unlinked' and channel <> 'mcp'"
        " order by created_at, id",
        tenant_id,
    )
    return tuple(ChatIdentity(row["id"], row["channel"], row["user_key"], row["name"]) for row in rows)


async def language_in(connection: Connection, tenant_id: str) -> str:
    """Return a person's language; afterwards the connection sees this person's rows."""
    await connection.execute("select set_config('onevalet.tenant', $1, true)", tenant_id)
    return str(await connection.fetchval("select language from tenants where tenant_id = $1", tenant_id) or "")


async def tell_places(
    connection: Connection, tenant_id: str, places: Sequence[ChatIdentity], text: str, make_id: IdMaker
) -> tuple[str, ...]:
    """Queue a text for places of a person, each in its newest conversation; return the conversations."""
    rows = await connection.fetch(
        "select conversation_id from tell_places($1,$2,$3,$4)",
        tenant_id,
        [place.id for place in places],
        text,
        make_id("out"),
    )
    return tuple(row["conversation_id"] for row in rows)
