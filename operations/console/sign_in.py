"""Signing in to the console: a link that works once and for minutes, then a session in a single browser."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.credentials.own_tokens import OwnTokens
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from operations.console.access import Viewer

PATH = "/console"
VALID = timedelta(minutes=10)
"""Lifetime of a link."""
MAX_LINKS = 20
"""Links for a person in a day."""
LASTS = timedelta(days=7)
IDLE = timedelta(hours=12)
"""The time after which a session ends: since it began, and since its last request."""


@dataclass(frozen=True, slots=True)
class ConsoleSignIn:
    """Make links, and find sessions. Without a `public_url` there is no console to lead to.

    `keys` make the check sums of links and sessions, so that foreign tokens are not looked up.
    """

    database: Database
    public_url: str
    keys: SecretKeys = field(repr=False)

    @property
    def valid(self) -> timedelta:
        """Return the lifetime of a link."""
        return VALID

    @property
    def links(self) -> OwnTokens:
        return OwnTokens.of(self.keys, "console link", plain=True)

    @property
    def sessions(self) -> OwnTokens:
        return OwnTokens.of(self.keys, "console session")

    async def link(self, tenant_id: str, now: datetime) -> str | None:
        """Return a new link for a person; None if they had too many today, or there is no console.

        An owner's console shows all people's data.
        """
        if not self.public_url:
            return None
        token = self.links.make(tenant_id)
        row = await self.database.tenant_row(
            tenant_id,
            "select keep_console_link($1, $2, t.role = 'owner', $3, $4, $5, $6) as kept"
            " from tenants t where t.tenant_id = $1",
            token_hash(token),
            now,
            now + VALID,
            now - timedelta(days=1),
            MAX_LINKS,
        )
        return f"{self.public_url.rstrip('/')}{PATH}/sign-in/{token}" if row and row["kept"] else None

    async def is_good(self, token: str, now: datetime) -> bool:
        """Return whether a link can still be used. Asking uses nothing up: chats open links to preview them."""
        if not self.links.is_ours(token):
            return False
        found = await self.database.call("select tenant_id from find_console_link($1)", token_hash(token))
        row = found and await self.database.tenant_row(
            found["tenant_id"],
            "select from console_links where tenant_id = $1 and token_hash = $2 and expires_at > $3",
            token_hash(token),
            now,
        )
        return row is not None

    async def begin(self, token: str, now: datetime) -> str | None:
        """Use a link up; return the session that begins, or None if the link is not valid."""
        if not self.links.is_ours(token):
            return None
        found = await self.database.call("select tenant_id from find_console_link($1)", token_hash(token))
        if found is None:
            return None
        session = self.sessions.make(found["tenant_id"])
        # Repeated after a lost answer it begins nothing: the person then asks for another link.
        row = await self.database.one(
            "select begin_console_session($1,$2,$3,$4,$5) as begun",
            found["tenant_id"],
            token_hash(token),
            token_hash(session),
            now,
            now + LASTS,
        )
        return session if row["begun"] else None

    async def viewer(self, session: str, now: datetime) -> Viewer | None:
        """Return the viewer of a session; None if it has ended."""
        if not self.sessions.is_ours(session):
            return None
        found = await self.database.call("select tenant_id from find_console_session($1)", token_hash(session))
        if found is None:
            return None
        row = await self.database.call(
            "select * from see_console_session($1,$2,$3,$4)", found["tenant_id"], token_hash(session), now, IDLE
        )
        return Viewer(found["tenant_id"], row["operator"], row["name"], row["timezone"] or None) if row else None

    async def end(self, viewer: Viewer, session: str | None = None) -> None:
        """End a person's session, or all of them."""
        await self.database.tenant_rows(
            viewer.tenant_id,
            "delete from console_sessions where tenant_id = $1 and ($2::bytea is null or token_hash = $2)",
            token_hash(session) if session else None,
        )


def token_hash(token: str) -> bytes:
    """Return the stored hash of a link's end and of a session."""
    return hashlib.sha256(b"onevalet console " + token.encode()).digest()
