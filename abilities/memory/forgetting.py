"""Forgetting: the person is shown the memories that would be forgotten; those that they confirm are deleted everywhere.

The memories, their vectors and terms are deleted at once, and every index is rebuilt (the epoch rises). The words
about them, in the inbox, history, journal and sent messages, are redacted once none of them is still on its way. So are
words of the assistant that were read only after the person was asked: they would otherwise be recalled again.
"""

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from abilities.memory.extraction.terms import terms_of
from abilities.memory.store.versions import lock_memory, raise_epoch
from abilities.memory.telling_words import phrases_of
from abilities.memory.types import Memory
from core.db.database import Connection, Database
from core.ids import IdMaker

ASKED_FOR = timedelta(hours=1)
"""The time for which the question whether to forget may be answered."""
REDACT_WITHIN = timedelta(days=30)
"""The time for which redacting waits for pending messages."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The memories that would be forgotten. `confirm` takes the `id`."""

    id: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forget memories; each call names the person."""

    database: Database
    make_id: IdMaker

    async def ask(
        self, tenant_id: str, memories: Sequence[Memory], turn_id: str | None, phrase: str, now: datetime, known: int
    ) -> Forgetting:
        """Store the memories that would be forgotten, to be confirmed in a later turn.

        `known`: the newest number when the memories were looked for; the person was shown nothing newer.
        """
        forgetting_id = self.make_id("fgt")
        await self.database.tenant_rows(
            tenant_id,
            "insert into memory_forgettings (tenant_id, id, turn_id, memory_ids, phrases, expires_at, known)"
            " values ($1, $2, $3, $4, $5, $6, $7)",
            forgetting_id,
            turn_id or "",
            [memory.id for memory in memories],
            [phrase] if phrase else [],
            now + ASKED_FOR,
            known,
        )
        return Forgetting(forgetting_id, tuple(memories))

    async def waiting(self, tenant_id: str, turn_id: str | None, now: datetime) -> str | None:
        """Return the id of the newest question of an earlier turn whether to forget."""
        row = await self.database.tenant_row(
            tenant_id,
            "select id from memory_forgettings where tenant_id = $1 and not confirmed"
            " and expires_at > $2 and turn_id <> $3 and memory_ids <> '{}' order by expires_at desc limit 1",
            now,
            turn_id or "",
        )
        return row["id"] if row else None

    async def asked_about(self, tenant_id: str, memory_ids: Sequence[str], now: datetime) -> str | None:
        """Return the id of the newest question whether to forget these memories, perhaps among others."""
        row = await self.database.tenant_row(
            tenant_id,
            "select id from memory_forgettings where tenant_id = $1 and not confirmed and expires_at > $3"
            " and memory_ids @> $2::text[] order by expires_at desc limit 1",
            list(memory_ids),
            now,
        )
        return row["id"] if row else None

    async def confirm(
        self, tenant_id: str, forgetting_id: str, now: datetime, turn_id: str | None = None, only: Sequence[str] = ()
    ) -> int:
        """Forget the memories asked about; return the number of deleted memories. Confirming again changes nothing.

        `turn_id`: the turn in which the person agreed, from which nothing becomes a memory. `only`: those of the
        memories that the person was shown.
        """
        async with self.database.tenant(tenant_id) as connection:
            # Before anything is read: an index that is being built would otherwise store again the terms deleted here.
            await lock_memory(connection, tenant_id)
            row = await connection.fetchrow(
                "select memory_ids, phrases, confirmed from memory_forgettings where tenant_id = $1 and id = $2"
                " for update",
                tenant_id,
                forgetting_id,
            )
            if row is None or row["confirmed"]:
                return 0
            ids = [memory_id for memory_id in row["memory_ids"] if not only or memory_id in only]
            gone = await connection.fetch(
                "delete from memories where tenant_id = $1 and id = any ($2) returning text, knowledge", tenant_id, ids
            )
            kept = await connection.fetch("select text from memories where tenant_id = $1 and kind = 'told'", tenant_id)
            await connection.execute(
                "update memories set superseded_by = null where tenant_id = $1 and superseded_by = any ($2)",
                tenant_id,
                ids,
            )
            phrases = phrases_of(
                [memory["text"] for memory in gone], row["phrases"], [memory["text"] for memory in kept]
            )
            terms = {term for memory in gone for term in terms_of(memory["knowledge"])}
            await connection.execute(
                "delete from memory_terms where tenant_id = $1 and term = any ($2)", tenant_id, sorted(terms)
            )
            await raise_epoch(connection, tenant_id)
            await connection.execute("delete from prompts where tenant_id = $1", tenant_id)
            await connection.execute(
                "update memory_forgettings set confirmed = true, phrases = $3, expires_at = $4, confirmed_in = $5"
                " where tenant_id = $1 and id = $2",
                tenant_id,
                forgetting_id,
                phrases,
                now,
                turn_id or "",
            )
            await connection.execute(
                "delete from memory_forgettings where tenant_id = $1 and not confirmed and memory_ids && $2::text[]",
                tenant_id,
                ids,
            )
        return len(gone)

    async def take_back(self, tenant_id: str, numbers: Sequence[int], now: datetime) -> list[str] | None:
        """Delete memories that were stored a moment ago, and let the replaced memories hold again; return their texts.

        None, and nothing deleted, if any of them has been replaced since. The words stay in the talk, but are
        not remembered from there.
        """
        async with self.database.tenant(tenant_id) as connection:
            await lock_memory(connection, tenant_id)
            rows = await connection.fetch(
                "select id, text, turn_id, knowledge, superseded_by from memories"
                " where tenant_id = $1 and number = any ($2) order by number",
                tenant_id,
                list(numbers),
            )
            if any(row["superseded_by"] for row in rows):
                return None
            ids = [row["id"] for row in rows]
            await connection.execute(
                "update memories set valid_to = null, superseded_by = null"
                " where tenant_id = $1 and superseded_by = any ($2)",
                tenant_id,
                ids,
            )
            await connection.execute("delete from memories where tenant_id = $1 and id = any ($2)", tenant_id, ids)
            terms = {term for row in rows for term in terms_of(row["knowledge"])}
            await connection.execute(
                "delete from memory_terms where tenant_id = $1 and term = any ($2)", tenant_id, sorted(terms)
            )
            await raise_epoch(connection, tenant_id)
            for turn_id in {row["turn_id"] for row in rows if row["turn_id"]}:
                await connection.execute(
                    "insert into memory_forgettings (tenant_id, id, turn_id, memory_ids, expires_at)"
                    " values ($1, $2, $3, '{}', $4)",
                    tenant_id,
                    self.make_id("fgt"),
                    turn_id,
                    now + ASKED_FOR,
                )
        return [row["text"] for row in rows]

    async def redact(self, tenant_id: str, now: datetime | None = None) -> bool:
        """Redact the confirmed phrases in all messages; return True when none is left.

        No memory of the person's own words is deleted here: they were shown the memories that go. `now`: phrases
        confirmed longer than `REDACT_WITHIN` ago are given up. A job that is at work may still store words
        that it read before, and so may a turn that runs.
        """
        async with self.database.tenant(tenant_id) as connection:
            await lock_memory(connection, tenant_id)
            rows = await connection.fetch(
                "select id, phrases, expires_at, known from memory_forgettings where tenant_id = $1 and confirmed",
                tenant_id,
            )
            reading = await connection.fetchval(
                "select exists (select from memory_jobs where tenant_id = $1"
                " and owner is not null and lease_until > clock_timestamp())"
                " or exists (select from turns where tenant_id = $1 and state = 'running')",
                tenant_id,
            )
            done, indexed = True, False
            for row in rows:
                phrases = in_text_and_json(row["phrases"])
                indexed |= await connection.fetchval(
                    "select exists (select from memory_terms where tenant_id = $1 and says_any(term, $2))",
                    tenant_id,
                    phrases,
                )
                indexed |= await _delete_echoes(connection, tenant_id, phrases, row["known"])
                gone = await connection.fetchval("select redact($1, $2)", tenant_id, phrases)
                gone = gone and not reading
                done &= bool(gone)
                over = now is not None and row["expires_at"] + REDACT_WITHIN < now
                if over and not gone:
                    _log.warning("memory_forgetting_left", forgetting=row["id"])
                if gone or over:
                    await connection.execute(
                        "delete from memory_forgettings where tenant_id = $1 and id = $2", tenant_id, row["id"]
                    )
            if indexed:  # otherwise an approval that waits for a day would rebuild the index every half minute
                await raise_epoch(connection, tenant_id)
        return done


async def _delete_echoes(connection: Connection, tenant_id: str, phrases: Sequence[str], known: int) -> bool:
    """Delete the same statement by the assistant and outside content in memories that are newer than the question."""
    echoes = await connection.fetch(
        "delete from memories where tenant_id = $1 and number > $3 and kind <> 'told' and says_any(text, $2)"
        " returning knowledge",
        tenant_id,
        phrases,
        known,
    )
    terms = {term for memory in echoes for term in terms_of(memory["knowledge"])}
    await connection.execute(
        "delete from memory_terms where tenant_id = $1 and term = any ($2)", tenant_id, sorted(terms)
    )
    return bool(echoes)


def in_text_and_json(phrases: Sequence[str]) -> list[str]:
    """Return each phrase as it appears in text, as JSON escapes it inside a string, and as HTML and Slack do."""
    forms: list[str] = []
    for phrase in phrases:
        forms += [phrase, json.dumps(phrase)[1:-1], json.dumps(phrase, ensure_ascii=False)[1:-1]]
        forms.append(html.escape(phrase, quote=False))
    return list(dict.fromkeys(forms))
