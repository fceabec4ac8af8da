"""Linking two places of the same person by a code, and merging their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

import asyncpg
import structlog

from core.credentials.store import CredentialStore
from core.db.database import Connection, Database, fetch_one
from core.errors import LeaseLost
from core.ids import IdMaker, partition_of
from core.language.catalogue import gettext, listed, ngettext, speaking
from core.people.access_policy import PersonRole
from core.people.chat_names import ChatIdentity, language_in, places_of, tell_places
from core.people.link_codes import (
    GUESSES_WITHIN,
    MAX_CODES,
    MAX_GUESSES_PER_SENDER,
    VALID,
    link_code_hash,
    new_link_code,
)
from core.people.link_messages import now_linked
from core.people.merge import MergeHook, MergeRefused
from core.people.tenant_tables import merge_rules
from core.people.unlinking import Unlinked, Unlinking

_LEASE_LOST = "OV001"
"""The state with which our SQL functions report that the turn is over."""
_IN_CHAT = "select * from begin_link($1,$2,$3,$4,$5,$6,$7,$8)"
_IN_CONSOLE = "select * from begin_link_in_console($1,$2,$3,$4,$5,$6,$7,$8)"
_log = structlog.get_logger()


class LinkOutcome(StrEnum):
    """The outcome of a typed code."""

    LINKED = "linked"
    ASK = "ask"
    """The person has to agree first, in another message."""
    SAME = "same"
    BUSY = "busy"
    WRONG = "wrong"
    USED = "used"
    EXPIRED = "expired"
    LIMITED = "limited"
    REFUSED = "refused"
    """An ability would lose something by it, as `Link.refusal` says."""


@dataclass(frozen=True, slots=True)
class Link:
    """The outcome with `counts`: rows per table of the other place, and of this place.

    `places` are those of the other person, if any; `role` is the common role, if it is lower than this person's;
    `told` are the conversations with queued messages to other places.
    """

    outcome: LinkOutcome
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    places: tuple[ChatIdentity, ...] = ()
    role: PersonRole | None = None
    told: tuple[str, ...] = ()
    refusal: str = ""


class Linking:
    """Link and unlink people's places. `hooks` are called in every merge, in order."""

    def __init__(
        self,
        database: Database,
        credentials: CredentialStore,
        make_id: IdMaker,
        *,
        hooks: Sequence[MergeHook] = (),
    ) -> None:
        self._database = database
        self._credentials = credentials
        self._make_id = make_id
        self._hooks = tuple(hooks)
        self._unlinking = Unlinking(database, credentials, make_id, self._hooks)

    async def give_code(self, tenant_id: str, turn_id: str, now: datetime) -> str | None:
        """Return a new code for the person of a turn, replacing any other; None when there were too many today."""
        code = new_link_code(partition_of(tenant_id))
        row = await self._database.call(
            "select keep_link_code($1,$2,$3,$4,$5,$6) as kept",
            tenant_id,
            turn_id,
            link_code_hash(code),
            now,
            now + VALID,
            MAX_CODES,
        )
        return code if row and row["kept"] else None

    async def redeem(self, tenant_id: str, turn_id: str, code: str, *, agreed: bool, now: datetime) -> Link:
        """Merge the person who typed a code with the person it was given to.

        All in a single transaction; the same turn may repeat it with the same result. Raises `LeaseLost` if the turn is
        over.
        """
        try:
            return await self._redeem(_IN_CHAT, tenant_id, turn_id, code, agreed=agreed, now=now)
        except asyncpg.PostgresError as error:
            if error.sqlstate == _LEASE_LOST:
                raise LeaseLost from error
            raise

    async def redeem_in_console(self, tenant_id: str, key: str, code: str, *, agreed: bool, now: datetime) -> Link:
        """Merge as `redeem` does, for a person who typed the code in the console; `key` is that of the form."""
        async with self._database.tenant(tenant_id) as connection:
            language = await language_in(connection, tenant_id)
        with speaking(language):
            return await self._redeem(_IN_CONSOLE, tenant_id, key, code, agreed=agreed, now=now)

    async def unlink(self, tenant_id: str, turn_id: str, text: str, now: datetime) -> Unlinked:
        """Undo the person's newest link, or let the turn's place start again (`Unlinking.unlink`)."""
        return await self._unlinking.unlink(tenant_id, turn_id, text, now)

    async def _redeem(self, statement: str, tenant_id: str, by: str, code: str, *, agreed: bool, now: datetime) -> Link:
        hashed = link_code_hash(code)
        try:
            link, gone = await self._redeemed(statement, tenant_id, by, hashed, agreed=agreed, now=now)
        except MergeRefused as refused:
            link, gone = Link(LinkOutcome.REFUSED, refusal=str(refused)), ""
        _log.info("link_code_typed", by=by, tenant=tenant_id, outcome=link.outcome.value, other=gone)
        return link

    async def _redeemed(
        self, statement: str, tenant_id: str, by: str, hashed: bytes, *, agreed: bool, now: datetime
    ) -> tuple[Link, str]:
        async with self._database.tenant(tenant_id) as connection:
            row = await fetch_one(
                connection,
                statement,
                tenant_id,
                by,
                hashed,
                agreed,
                [table for table, rule in merge_rules().items() if rule.counted],
                now,
                MAX_GUESSES_PER_SENDER,
                GUESSES_WITHIN,
            )
            link, gone = await self._read(connection, tenant_id, row)
            if link.outcome is LinkOutcome.LINKED and gone:
                link = replace(link, told=await self._merge(connection, tenant_id, gone, by, hashed, now))
        return link, gone

    async def _read(self, connection: Connection, tenant_id: str, row: asyncpg.Record) -> tuple[Link, str]:
        counts = {table: (both[0], both[1]) for table, both in row["counts"].items()}
        outcome = LinkOutcome(row["outcome"])
        gone = row["gone_id"]
        if not gone:
            return Link(outcome, counts), ""
        # First the place that requested the code: the person should recognise it.
        places = sorted(await places_of(connection, gone), key=lambda place: place.id != row["identity_id"])
        return Link(outcome, counts, tuple(places), await _lower_role(connection, tenant_id, gone)), gone

    async def _merge(
        self, connection: Connection, kept: str, gone: str, by: str, hashed: bytes, now: datetime
    ) -> tuple[str, ...]:
        theirs, ours = await places_of(connection, gone), await places_of(connection, kept)
        await connection.execute("set constraints all deferred")
        await connection.fetch("select note_link($1,$2,$3,$4,$5,$6)", kept, gone, self._make_id("lnk"), by, hashed, now)
        for hook in self._hooks:
            await connection.execute("select set_config('onevalet.tenant', $1, true)", gone)
            await hook.before(connection, kept, gone)
        sealed = [account.to_json() for account in await self._credentials.sealed_for(connection, kept, gone)]
        rules = {table: rule.how.value for table, rule in merge_rules().items()}
        await connection.fetch("select * from merge_people($1,$2,$3,$4,$5,$6)", kept, gone, by, hashed, rules, sealed)
        for hook in self._hooks:
            await hook.after(connection, kept, gone)
        # Runs that waited for an account of either person may go on with the other's.
        await connection.fetch("select * from wake_for_account($1)", kept)
        here = await connection.fetchval(
            "select c.identity_id from turns t join conversations c on c.tenant_id = t.tenant_id"
            " and c.id = t.conversation_id where t.tenant_id = $1 and t.id = $2",
            kept,
            by,
        )
        others = [place for place in ours if place.id != here]
        queued = await tell_places(connection, kept, others, now_linked(theirs), self._make_id)
        return (*queued, *await tell_places(connection, kept, theirs, now_linked(ours), self._make_id))


async def withdraw_codes(database: Database, tenant_id: str, now: datetime) -> int:
    """Expire a person's link codes; return the number of codes that were still good."""
    rows = await database.tenant_rows(
        tenant_id,
        "update link_codes set expires_at = $2 where tenant_id = $1 and used_at is null and expires_at > $2"
        " returning identity_id",
        now,
    )
    return len(rows)


async def _lower_role(connection: Connection, kept: str, gone: str) -> PersonRole | None:
    """Return the other person's role if it is lower, since it becomes the role of both; None otherwise."""
    ranks = list(PersonRole)
    roles = []
    for tenant_id in (kept, gone):
        await connection.execute("select set_config('onevalet.tenant', $1, true)", tenant_id)
        roles.append(PersonRole(await connection.fetchval("select role from tenants where tenant_id = $1", tenant_id)))
    await connection.execute("select set_config('onevalet.tenant', $1, true)", kept)
    return roles[1] if ranks.index(roles[1]) > ranks.index(roles[0]) else None


def count_in_words(counts: Mapping[str, tuple[int, int]], which: int) -> str:
    """Return the rows of either place in words, such as `3 messages and 1 note`; `which`: 0 the other place, 1 this."""
    parts = []
    for table, rule in merge_rules().items():
        if rule.counted and (number := counts.get(table, (0, 0))[which]):
            parts.append(ngettext(*rule.counted, number))
    return listed(parts) if parts else gettext("nothing")
