"""Values that are not trusted in an archive that this installation did not sign: its person may have written it.

An address in it belongs to the person only after the operator confirms it, nothing is sent to a place named in it, and
no id in it counts as a provider's. Messages are kept.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.db.database import Connection
from core.json_types import JsonObject
from core.messaging.programs import CHANNEL as PROGRAMS
from operations.archives.zips import ArchiveRefused
from operations.tenants.archive import Unconfirmed

STAND_IN = "archive"
"""The channel of no provider, for all conversations at unconfirmed addresses."""
_UNLINKED = "unlinked"
"""The `state_reason` of an identity that is no longer an address of its person, but has conversations."""
_BY_PERSON = frozenset({"sms", "telegram", "email"})
"""Channels whose user keys alone name a person, regardless of our account."""
_NAMED = "v.channel || ':' || v.account || ':' || "
_OWN = (
    "v.recipient_id is null and exists (select from identities i where i.tenant_id = $1 and i.id = v.identity_id"
    " and i.channel = v.channel and i.account = v.account and i.user_key = v.peer)"
)
"""The conversation is at an address that was confirmed. The identities are imported first."""

UNPROVEN: Mapping[str, Mapping[str, str]] = {
    "identities": {
        "channel": "v.channel",
        "account": "v.account",
        "user_key": "v.user_key",
        "admitted": "'operator'",
    },
    "recipients": {
        "channel": f"'{STAND_IN}'",
        "account": "''",
        "user_key": f"{_NAMED} v.user_key",
        "name": "coalesce(nullif(v.name, ''), v.user_key)",
        "open": "false",
    },
    "conversations": {
        "identity_id": f"case when v.recipient_id is not null or {_OWN} then v.identity_id"
        " else $3::jsonb ->> 'stand_in' end",
        "channel": f"case when {_OWN} then v.channel else '{STAND_IN}' end",
        "account": f"case when {_OWN} then v.account else '' end",
        "peer": f"case when {_OWN} then v.peer else {_NAMED} v.peer end",
    },
    "inbound": {"provider_id": "''"},
    "outbound_parts": {"ref": "gen_random_uuid()::text", "provider_id": "''"},
    "deliveries": {"provider_id": "''"},
    "undo_records": {"arguments": "'{}'::jsonb", "undone": "true"},
}
"""The columns of each table that name an address, a person, or an action of a provider or a tool, with the SQL of their
replacement: `v` is the archived row, $1 the person. Only confirmed identities become rows.
"""
SIGNED_ALONE = frozenset({"inbox_keys"})
"""Tables of which nothing is imported: by the keys of messages others' messages would count as duplicates."""


NOT_FITTING = "The archive's rows do not fit together: it was changed."
_TOLD = ("id", "channel", "account", "user_key")


@dataclass(frozen=True, slots=True)
class Places:
    """The identities of an archive: those that are taken in, by their ids, and the addresses of the others."""

    confirmed: Mapping[str, JsonObject]
    left: tuple[str, ...]

    @classmethod
    def of(cls, rows: Collection[JsonObject], *, signed: bool, admit: Collection[str]) -> "Places":
        """Sort the identities; raise `ArchiveRefused` if an address to admit is not in the archive."""
        # The database would read numbers as texts that are not those which the operator is shown.
        if not all(isinstance(row.get(column), str) for row in rows for column in _TOLD):
            raise ArchiveRefused(NOT_FITTING)
        places = {_address(row): row for row in rows if _is_place(row)}
        if strange := set(admit) - set(places):
            raise ArchiveRefused(f"The archive has no address {min(strange)}.")
        if signed:
            return cls({str(row["id"]): row for row in rows}, ())
        confirmed = {str(row["id"]): row for row in rows if _is_place(row) and _address(row) in admit}
        left = tuple(address for address in places if address not in admit)
        if left and not confirmed:
            raise Unconfirmed(left)
        return cls(confirmed, left)


async def add_stand_in(connection: Connection, tenant_id: str, id: str) -> None:
    """Add the identity of the conversations at unconfirmed addresses, if there are any. Nothing is sent to it."""
    await connection.execute(
        "insert into identities (tenant_id, id, channel, account, user_key, admitted, state, state_reason)"
        " select $1, $2, $3, '', $2, 'operator', 'stopped', $4"
        " where exists (select from conversations where tenant_id = $1 and identity_id = $2)",
        tenant_id,
        id,
        STAND_IN,
        _UNLINKED,
    )


def _is_place(row: JsonObject) -> bool:
    """Return whether a person was reached there: not a program, whose token is in no archive."""
    return row["channel"] not in (PROGRAMS, STAND_IN) and row.get("state_reason") != _UNLINKED


def _address(row: JsonObject) -> str:
    """Return an address as operators write it elsewhere too, such as `sms:+15551234567` or `slack:T0123:U0456`."""
    account = "" if row["channel"] in _BY_PERSON else f"{row['account']}:"
    return f"{row['channel']}:{account}{row['user_key']}"
