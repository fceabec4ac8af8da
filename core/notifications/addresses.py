"""Where a person can be told things but not write from: push topics and email addresses, kept as their identities."""

import re
from dataclasses import dataclass

import asyncpg

from core.db.database import Database
from core.errors import OneValetError
from core.ids import IdMaker

_EMAIL = re.compile(r"[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+")
_PUSH = re.compile(r"(?:(ntfy|apprise):)?([-_A-Za-z0-9]{1,64})")


class AddressRefused(OneValetError):
    """An address cannot be kept; the message is one plain sentence."""


@dataclass(frozen=True, slots=True)
class NotificationAddress:
    """A push topic or an email address. `state`: `active`, or `blocked` once it could not be reached for good."""

    channel: str
    account: str
    address: str
    state: str = "active"


@dataclass(frozen=True, slots=True)
class AddressBook:
    """Add, list and delete where people are told things by push and email."""

    database: Database
    make_id: IdMaker

    async def add(self, tenant_id: str, channel: str, text: str) -> NotificationAddress:
        """Keep an address: an email address; or for push a topic, `ntfy:topic` or `apprise:key`.

        What could not be reached before is tried anew. Raises `AddressRefused`.
        """
        made = read_address(channel, text)
        try:
            async with self.database.tenant(tenant_id) as connection:
                await connection.execute(
                    "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
                    " values ($1, $2, $3, $4, $5, 'operator')",
                    tenant_id,
                    self.make_id("idn"),
                    made.channel,
                    made.account,
                    made.address,
                )
        except asyncpg.UniqueViolationError as error:
            if not await self._renew(tenant_id, made):
                raise AddressRefused("This address is another person's.") from error
        except asyncpg.ForeignKeyViolationError as error:
            raise AddressRefused(f"There is no tenant {tenant_id}.") from error
        return made

    async def list(self, tenant_id: str) -> list[NotificationAddress]:
        """List a person's addresses."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select channel, account, user_key, state from identities"
                " where tenant_id = $1 and channel in ('push', 'email') order by channel, user_key",
                tenant_id,
            )
        return [NotificationAddress(row["channel"], row["account"], row["user_key"], row["state"]) for row in rows]

    async def delete(self, tenant_id: str, channel: str, text: str) -> bool:
        """Forget an address; False when it is not this person's. Raises `AddressRefused`."""
        gone = read_address(channel, text)
        async with self.database.tenant(tenant_id) as connection:
            done = await connection.execute(
                "delete from identities where tenant_id = $1 and channel = $2 and account = $3 and user_key = $4",
                tenant_id,
                gone.channel,
                gone.account,
                gone.address,
            )
        return done == "DELETE 1"

    async def _renew(self, tenant_id: str, made: NotificationAddress) -> bool:
        async with self.database.tenant(tenant_id) as connection:
            done = await connection.execute(
                "update identities set state = 'active', state_reason = 'added again' where tenant_id = $1"
                " and channel = $2 and account = $3 and user_key = $4",
                tenant_id,
                made.channel,
                made.account,
                made.address,
            )
        return done == "UPDATE 1"


def read_address(channel: str, text: str) -> NotificationAddress:
    """Read what somebody typed; raises `AddressRefused`."""
    text = text.strip()
    if channel == "email" and _EMAIL.fullmatch(text) and len(text) <= 254:
        local, _, domain = text.rpartition("@")
        return NotificationAddress("email", "smtp", f"{local}@{domain.lower()}")
    if channel == "push" and (found := _PUSH.fullmatch(text)):
        return NotificationAddress("push", found[1] or "ntfy", found[2])
    if channel not in ("push", "email"):
        raise AddressRefused("Addresses can be added for push and email; people come in by the others themselves.")
    raise AddressRefused(
        "That is no email address." if channel == "email" else "Give a topic of ntfy, or `apprise:` and a key."
    )
