"""Undoing a link within a day, and letting a place start again as a new person after that."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from core.credentials.store import CredentialStore, SealedAccount
from core.db.database import Connection, Database
from core.ids import IdMaker
from core.json_types import Json
from core.language.catalogue import gettext, speaking
from core.people.chat_names import language_in, places_of, tell_places
from core.people.link_messages import taken_back
from core.people.merge import MergeHook, Parting
from core.people.tenant_tables import parting_rules

WITHIN = timedelta(days=1)
"""How long a link can be undone."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Unlinked:
    """The result: `text` is the reply, unless it is queued already; `queued` are conversations with new messages."""

    done: bool
    text: str = ""
    queued: tuple[str, ...] = ()


class Unlinking:
    """Undo links. `hooks` are called at each unlinking, in order."""

    def __init__(
        self, database: Database, credentials: CredentialStore, make_id: IdMaker, hooks: Sequence[MergeHook] = ()
    ) -> None:
        self._database = database
        self._credentials = credentials
        self._make_id = make_id
        self._hooks = tuple(hooks)

    async def unlink(self, tenant_id: str, turn_id: str, text: str, now: datetime) -> Unlinked:
        """Undo the person's newest link; if all are too old, let the turn's place start again.

        `text` is the reply in such a place. Each happens in a transaction.
        """
        async with self._database.tenant(tenant_id) as connection:
            row = await connection.fetchrow("select * from find_link($1,$2,$3)", tenant_id, turn_id, now - WITHIN)
            if row is not None and not row["link_id"]:
                return Unlinked(True, gettext("This was taken back already."))
            if row is not None:
                parting = Parting(tenant_id, row["other_id"], row["link_id"], now)
                unlinked = await self._part(connection, parting, turn_id, moves=row["moves"])
                _log.info("link_taken_back", turn=turn_id, tenant=tenant_id, other=row["other_id"])
                return unlinked
        return await self._start_again(tenant_id, turn_id, text)

    async def _part(self, connection: Connection, parting: Parting, turn_id: str, *, moves: bool) -> Unlinked:
        kept, other = parting.tenant_id, parting.other_id
        asked = await connection.fetchrow(
            "select c.id, c.identity_id from turns t join conversations c on c.tenant_id = t.tenant_id"
            " and c.id = t.conversation_id where t.tenant_id = $1 and t.id = $2",
            kept,
            turn_id,
        )
        await connection.execute("set constraints all deferred")
        await connection.execute("select begin_parting($1,$2)", kept, parting.link_id)
        for hook in self._hooks:
            await connection.execute("select set_config('onevalet.tenant', $1, true)", kept)
            await hook.before_parting(connection, parting)
        sealed = [account.to_json() for account in await self._sealed(connection, parting)]
        rules: list[Json] = [
            [table, [list(parent) for parent in parents]] for table, parents in parting_rules().items()
        ]
        await connection.fetch(
            "select * from move_apart($1,$2,$3,$4,$5)", kept, parting.link_id, turn_id, rules, sealed
        )
        for hook in self._hooks:
            await hook.after_parting(connection, parting)
        theirs, ours = await places_of(connection, other), await places_of(connection, kept)
        here = asked["identity_id"] if asked else ""
        queued: tuple[str, ...] = ()
        for tenant_id, places, gone in ((other, theirs, ours), (kept, ours, theirs)):
            others = [place for place in places if place.id != here]
            with speaking(await language_in(connection, tenant_id)):
                told = taken_back(gone, others[1:])
            queued += await tell_places(connection, tenant_id, others, told, self._make_id)
        text = taken_back(ours if moves else theirs, [p for p in (theirs if moves else ours) if p.id != here])
        if not moves or asked is None:
            return Unlinked(True, text, queued)
        message: Json = [{"id": self._make_id("out"), "kind": "reply", "text": text}]
        await connection.execute("select enqueue($1,$2,null,$3)", other, asked["id"], message)
        return Unlinked(True, "", (*queued, asked["id"]))

    async def _sealed(self, connection: Connection, parting: Parting) -> list[SealedAccount]:
        await connection.execute("select set_config('onevalet.tenant', $1, true)", parting.tenant_id)
        rows = await connection.fetch(
            "select c.*, r.name as was_there from credentials c join linked_rows r on r.tenant_id = c.tenant_id"
            " and r.of = 'credentials' and r.key = array[c.service, c.account_name]"
            " where c.tenant_id = $1 and r.link_id = $2 order by c.service, c.account_name",
            parting.tenant_id,
            parting.link_id,
        )
        sealed = []
        for row in rows:
            service, name, was = row["service"], row["was_there"], row["account_name"]
            plain = await self._credentials.open_for(
                parting.tenant_id, row["key_version"], row["credentials_json"], service, was, connection=connection
            )
            version, again = await self._credentials.seal_for(
                parting.other_id, plain, service, name, connection=connection
            )
            sealed.append(SealedAccount.of(row, name, version, again))
        return sealed

    async def _start_again(self, tenant_id: str, turn_id: str, text: str) -> Unlinked:
        row = await self._database.one(
            "select * from unlink_identity($1,$2,$3,$4,$5,$6,$7)",
            tenant_id,
            turn_id,
            self._make_id("tn"),
            self._make_id("idn"),
            self._make_id("cv"),
            self._make_id("out"),
            text,
        )
        _log.info("unlinked", turn=turn_id, tenant=tenant_id, done=row["unlinked"])
        conversation = row["conversation_id"]
        return Unlinked(row["unlinked"], "", (conversation,) if conversation else ())
