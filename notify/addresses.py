"""Addresses for one-way notifications, stored as identities: push, email, and channels that only send."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import asyncpg

from core.db.database import Database
from core.errors import OneValetError
from core.ids import IdMaker
from core.notifications.mail_addresses import read_mail_address

ONE_WAY = "one-way"
"""The account of addresses on an operator's own channels that only send."""
MAX_ADDRESS = 200
"""Characters of such an address."""
_PUSH = re.compile(r"(?:(ntfy|apprise):)?([-_A-Za-z0-9]{1,64})")


class AddressRefused(OneValetError):
    """An address cannot be stored; the message is a plain sentence."""


@dataclass(frozen=True, slots=True)
class NotificationAddress:
    """A push topic, an email address, or an address on a channel that only sends.

    `state`: `active`, or `blocked` once it could not be reached for good.
    """

    channel: str
    account: str
    address: str
    state: Literal["active", "blocked"] = "active"


@dataclass(frozen=True, slots=True)
class AddressBook:
    """Add, list and delete people's addresses for notifications.

    `only_send`: the names of the operator's own channels that receive no messages.
    """

    database: Database
    make_id: IdMaker
    only_send: Collection[str] = ()

    async def add(self, tenant_id: str, channel: str, text: str) -> NotificationAddress:
        """Add an email address, for push a topic, `ntfy:topic` or `apprise:key`, or an address of the operator's own
        channel.

        An address that was blocked becomes active again. Raises `AddressRefused`.
        """
        address = read_address(channel, text, self.only_send)
        try:
            await self.database.tenant_rows(
                tenant_id,
                "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
                " values ($1, $2, $3, $4, $5, 'operator')",
                self.make_id("idn"),
                address.channel,
                address.account,
                address.address,
            )
        except asyncpg.UniqueViolationError as error:
            if not await self._activate(tenant_id, address):
                raise AddressRefused("This address is another person's.") from error
        except asyncpg.ForeignKeyViolationError as error:
            raise AddressRefused(f"There is no tenant {tenant_id}.") from error
        return address

    async def list(self, tenant_id: str) -> list[NotificationAddress]:
        rows = await self.database.tenant_rows(
            tenant_id,
            "select channel, account, user_key, state from identities"
            " where tenant_id = $1 and is_one_way(channel, account) order by channel, user_key",
        )
        return [NotificationAddress(row["channel"], row["account"], row["user_key"], row["state"]) for row in rows]

    async def delete(self, tenant_id: str, channel: str, text: str) -> bool:
        """Delete an address; return False when it is not this person's. Raises `AddressRefused`."""
        return await self._change(tenant_id, read_address(channel, text, self.only_send), "delete from identities")

    async def _activate(self, tenant_id: str, address: NotificationAddress) -> bool:
        change = "update identities set state = 'active', state_reason = 'added again'"
        return await self._change(tenant_id, address, change)

    async def _change(self, tenant_id: str, address: NotificationAddress, change: str) -> bool:
        row = await self.database.tenant_row(
            tenant_id,
            f"{change} where tenant_id = $1 and channel = $2 and account = $3 and user_key = $4 returning id",
            address.channel,
            address.account,
            address.address,
        )
        return row is not None


def is_one_way(channel: str, account: str) -> bool:
    """Return whether news can be read there but not answered: after all other places, and never for a decision.

    The account of email addresses that can be answered is the address of the assistant's mailbox.
    """
    return channel == "push" or account == ONE_WAY or (channel == "email" and "@" not in account)


def read_address(channel: str, text: str, only_send: Collection[str] = ()) -> NotificationAddress:
    """Parse an address that was typed; raises `AddressRefused`."""
    text = text.strip()
    if channel in only_send:
        if not text.isprintable() or not 0 < len(text) <= MAX_ADDRESS:
            raise AddressRefused(f"An address is one line of at most {MAX_ADDRESS} characters.")
        return NotificationAddress(channel, ONE_WAY, text)
    if channel == "email" and (address := read_mail_address(text)):
        return NotificationAddress("email", "smtp", address)
    if channel == "push" and (match := _PUSH.fullmatch(text)):
        return NotificationAddress("push", match[1] or "ntfy", match[2])
    if channel not in ("push", "email"):
        names = " and ".join(["push", "email", *sorted(only_send)])
        raise AddressRefused(f"Addresses can be added for {names}; people come in by the others themselves.")
    raise AddressRefused(
        "That is not an email address." if channel == "email" else "Give a topic of ntfy, or `apprise:` and a key."
    )
