"""`people …`: everyone here, and the stored data of a person; secrets are never shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import asyncpg

from core.approvals.store import ApprovalStore
from core.approvals.types import Approval
from core.credentials.types import ConnectedAccounts
from core.db.database import Connection, Database, fetch_one
from core.json_types import JsonObject
from core.messaging.states import IdentityState
from core.people.access_policy import Admission, PersonRole, read_admission
from core.people.preferences import Preferences, PreferenceStore, written
from core.queue.wakeups import NoWakeups
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import NOBODY, one_tenant, open_database
from onevalet.settings import Settings

EVERYBODY = 1_000_000
_WAITING = {
    "messages": ("message to answer", "messages to answer"),
    "answers": ("answer to send", "answers to send"),
    "notifications": ("notification held", "notifications held"),
    "agents": ("agent that waits for an answer", "agents that wait for an answer"),
}
"""The spine's kinds of waiting work, in words for singular and plural."""


@dataclass(frozen=True, slots=True)
class Identity:
    """An address of a person on a channel. `admitted`: how they came in, None for a stranger."""

    channel: str
    account: str
    address: str
    state: IdentityState
    admitted: Admission | None


@dataclass(frozen=True, slots=True)
class _Person:
    id: str
    role: PersonRole
    tier: str | None
    since: datetime
    preferences: Preferences
    identities: tuple[Identity, ...]


async def print_people(settings: Settings, *, as_json: bool) -> None:
    """List all people with their addresses."""
    async with open_database(settings, "people") as database:
        found = await database.rows("select * from find_tenants($1)", EVERYBODY)
        people = [await _read(database, str(row["tenant_id"])) for row in found]
    if as_json:
        say_json([_as_json(person) for person in people])
        return
    for person in people:
        addresses = ", ".join(f"{identity.channel} {identity.address}" for identity in person.identities)
        say(f"{person.id}  {person.role:<6}  {person.preferences.name or '(no name)'}  {addresses}".rstrip())
    if not people:
        say(NOBODY)


async def print_person(settings: Settings, tenant: str, *, as_json: bool) -> None:
    """Show a person: addresses, preferences, the names of connected accounts, and waiting work."""
    async with open_database(settings, "people") as database:
        tenant = await one_tenant(database, tenant, several="Say whom: `people list` names everybody.")
        person = await _read(database, tenant)
        approvals = await ApprovalStore(database, NoWakeups()).pending(tenant)
        async with database.tenant(tenant) as connection:
            waiting = await _count_waiting(connection, tenant)
            accounts = await _accounts(connection, tenant)
    if as_json:
        pending = [{"code": approval.code, "action_summary": approval.summary} for approval in approvals]
        connected = [{"service": account.service, "accounts": list(account.names)} for account in accounts]
        say_json(_as_json(person) | {"accounts": connected, "approvals": pending, "waiting": waiting})
        return
    tier = f", tier {person.tier}" if person.tier else ""
    say(f"{person.id}  {person.role}{tier}, here since {person.since:%Y-%m-%d}\n\n{written(person.preferences)}\n")
    for identity in person.identities:
        by = f", admitted by {identity.admitted}" if identity.admitted else ", not admitted"
        say(f"{identity.channel} {identity.address}  {identity.state}{by}")
    for account in accounts:
        say(f"connected: {account.service} {', '.join(account.names)}")
    say("\n" + "\n".join(_waiting_lines(approvals, waiting)))


async def _read(database: Database, tenant: str) -> _Person:
    preferences = await PreferenceStore(database).read(tenant)
    async with database.tenant(tenant) as connection:
        row = await fetch_one(connection, "select role, tier, created_at from tenants where tenant_id = $1", tenant)
        identities = await connection.fetch(
            "select channel, account, user_key, state, admitted from identities where tenant_id = $1"
            " order by created_at, id",
            tenant,
        )
    return _Person(
        tenant,
        PersonRole(row["role"]),
        row["tier"] or None,
        row["created_at"],
        preferences,
        tuple(_identity(identity) for identity in identities),
    )


def _identity(row: asyncpg.Record) -> Identity:
    return Identity(
        row["channel"], row["account"], row["user_key"], IdentityState(row["state"]), read_admission(row["admitted"])
    )


async def _count_waiting(connection: Connection, tenant: str) -> dict[str, int]:
    row = await fetch_one(
        connection,
        "select (select count(*) from inbound where tenant_id = $1 and state in ('waiting', 'taken')) as messages,"
        " (select count(*) from outbound where tenant_id = $1 and state in ('ready', 'sending', 'checking'))"
        "  as answers,"
        " (select count(*) from notifications where tenant_id = $1 and state = 'held') as notifications,"
        " (select count(*) from pool_entries where tenant_id = $1"
        "  and status in ('WAITING_FOR_INPUT', 'WAITING_FOR_ACCOUNT', 'PAUSED'))"
        "  as agents",
        tenant,
    )
    active = await connection.fetch("select kind, number from count_active_work($1)", tenant)
    return {name: row[name] for name in _WAITING} | {f"{kind}s": number for kind, number in active}


async def _accounts(connection: Connection, tenant: str) -> list[ConnectedAccounts]:
    rows = await connection.fetch(
        "select service, array_agg(account_name || case when revoked_at is null then '' else ' (to be renewed)' end"
        " order by account_name) as names from credentials where tenant_id = $1 group by service order by service",
        tenant,
    )
    return [ConnectedAccounts(row["service"], tuple(row["names"])) for row in rows]


def _waiting_lines(approvals: Sequence[Approval], waiting: Mapping[str, int]) -> list[str]:
    lines = [f"approval {approval.code}: {approval.summary}" for approval in approvals]
    lines += [f"{count} {_words(name)[count > 1]}" for name, count in waiting.items() if count]
    return lines or ["Nothing waits."]


def _words(name: str) -> tuple[str, str]:
    """Return the words for singular and plural; abilities name their own kinds."""
    return _WAITING.get(name) or (f"active {name.removesuffix('s')}", f"active {name}")


def _as_json(person: _Person) -> JsonObject:
    preferences = person.preferences
    return {
        "id": person.id,
        "name": preferences.name,
        "role": person.role,
        "tier": person.tier,
        "since": person.since.isoformat(),
        "language": preferences.language,
        "timezone": preferences.timezone,
        "preferred_channel": preferences.channel,
        "identities": [asdict(identity) for identity in person.identities],
    }
