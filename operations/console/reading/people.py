"""People as the console shows them: the list, a single person, and strangers who ask to be admitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from core.db.database import Connection
from core.messaging.states import IdentityState
from core.people.access_policy import Admission, PersonRole, read_admission
from core.people.chat_names import masked
from notify.addresses import is_one_way
from operations.console.access import Scope
from operations.console.reading.conversations import Cursor

PAGE = 30
_IDENTITIES = (
    "select id, channel, account, user_key, name, state, state_reason, state_at, admitted, created_at from identities"
    " where tenant_id = $1 order by created_at, id"
)


@dataclass(frozen=True, slots=True)
class Identity:
    """An address of a person. `admitted`: how it was admitted, None if it was not."""

    id: str
    channel: str
    account: str
    user_key: str
    name: str
    state: IdentityState
    reason: str
    state_at: datetime
    admitted: Admission | None

    @property
    def one_way(self) -> bool:
        """Return whether news can be read there but not answered."""
        return is_one_way(self.channel, self.account)


@dataclass(frozen=True, slots=True)
class Person:
    """A person with their addresses."""

    id: str
    name: str
    role: PersonRole
    tier: str
    since: datetime
    identities: tuple[Identity, ...]

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.since, self.id)


@dataclass(frozen=True, slots=True)
class Stranger:
    """An address with a code that waits for admission."""

    channel: str
    account: str
    user_key: str
    asked_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class OpenLinkCode:
    """A code by which a person links two places. `asked_from`: the address in which it was typed, if it was."""

    made_at: datetime
    until: datetime
    place: str
    asked_channel: str
    asked_from: str


@dataclass(frozen=True, slots=True)
class AskedLink:
    """An open question about a link, asked in a chat of the person; the answer is given there."""

    channel: str
    until: datetime


async def list_people(scope: Scope, after: Cursor | None = None) -> list[Person]:
    """Return a page of the admitted people, the newest first, for an operator."""
    at, last = (after.at, after.id) if after else (None, "")
    found = await scope.everybody().rows("select tenant_id from console_people($1,$2,$3)", at, last, PAGE)
    people = [await read_person(scope, row["tenant_id"]) for row in found]
    return [person for person in people if person is not None]


async def read_person(scope: Scope, tenant_id: str) -> Person | None:
    """Return a person; None if there is none with this id."""
    async with scope.tenant(tenant_id) as connection:
        row = await connection.fetchrow(
            "select name, role, tier, created_at from tenants where tenant_id = $1", tenant_id
        )
        identities = await connection.fetch(_IDENTITIES, tenant_id)
    if row is None:
        return None
    known = tuple(_identity(identity) for identity in identities)
    name = row["name"] or next((identity.name for identity in known if identity.name), "")
    return Person(tenant_id, name, PersonRole(row["role"]), row["tier"], row["created_at"], known)


async def list_strangers(scope: Scope, now: datetime) -> list[Stranger]:
    """Return the people with a valid code, the newest first, for an operator."""
    rows = await scope.everybody().rows(
        "select channel, account, user_key, asked_at, expires_at from pairings"
        " where used_at is null and expires_at > $1 order by asked_at desc, user_key limit 100",
        now,
    )
    return [
        Stranger(row["channel"], row["account"], row["user_key"], row["asked_at"], row["expires_at"]) for row in rows
    ]


async def open_link_codes(connection: Connection, tenant_id: str, now: datetime) -> Sequence[OpenLinkCode]:
    """Return a person's link codes that may still be used; the codes themselves are stored nowhere."""
    rows = await connection.fetch(
        "select k.made_at, k.expires_at, i.channel, k.asked_channel, k.asked_user_key from link_codes k"
        " left join identities i on i.tenant_id = k.tenant_id and i.id = k.identity_id"
        " where k.tenant_id = $1 and k.used_at is null and k.expires_at > $2 order by k.made_at desc",
        tenant_id,
        now,
    )
    return [
        OpenLinkCode(
            row["made_at"],
            row["expires_at"],
            row["channel"] or "",
            row["asked_channel"],
            # The address of another person, who may have nothing to do with this person.
            masked(row["asked_user_key"]) if row["asked_user_key"] else "",
        )
        for row in rows
    ]


async def asked_links(connection: Connection, tenant_id: str, now: datetime) -> Sequence[AskedLink]:
    """Return the unanswered questions to a person in a chat after a typed code."""
    rows = await connection.fetch("select * from find_asked_links($1,$2)", tenant_id, now)
    return [AskedLink(row["channel"], row["until"]) for row in rows]


def _identity(row: asyncpg.Record) -> Identity:
    return Identity(
        row["id"],
        row["channel"],
        row["account"],
        row["user_key"],
        row["name"],
        IdentityState(row["state"]),
        row["state_reason"],
        row["state_at"],
        read_admission(row["admitted"]),
    )
