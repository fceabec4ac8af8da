"""Forgetting: what is meant is shown first, and what the person then confirms goes everywhere.

The memories, their vectors and terms go at once, and every index with them (the epoch rises). What was said about them,
in the inbox, history, journal and what was sent, is blotted out once nothing of it is still on its way.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from core.db.database import Database
from core.ids import IdMaker
from core.memory.extraction.rules_self import names_in
from core.memory.extraction.terms import terms_of
from core.memory.extraction.words import STOP_WORDS, stem, words_of
from core.memory.types import Memory

ASKED_FOR = timedelta(hours=1)
"""How long a question whether to forget may be answered."""
LOOKED_FOR = timedelta(days=30)
"""For how long what is pending is waited for. A word that is also a tool's name is found for ever, and never goes."""
LEAST = 4
"""Letters of the shortest word that is looked for by itself."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What is shown before it is forgotten. `id` is what confirms it."""

    id: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forget memories of all people; every call names whose."""

    database: Database
    make_id: IdMaker

    async def ask(
        self, tenant_id: str, memories: Sequence[Memory], turn_id: str, what: str, now: datetime
    ) -> Forgetting:
        """Note what would be forgotten, to be confirmed in a later turn."""
        forgetting_id = self.make_id("fgt")
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "insert into memory_forgettings (tenant_id, id, turn_id, memory_ids, phrases, expires_at)"
                " values ($1, $2, $3, $4, $5, $6)",
                tenant_id, forgetting_id, turn_id, [one.id for one in memories], [what] if what else [],
                now + ASKED_FOR,
            )  # fmt: skip
        return Forgetting(forgetting_id, tuple(memories))

    async def waiting(self, tenant_id: str, turn_id: str, now: datetime) -> tuple[str, tuple[str, ...]] | None:
        """Return the newest question whether to forget that an earlier turn asked, with the memories it is about."""
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow(
                "select id, memory_ids from memory_forgettings where tenant_id = $1 and not confirmed"
                " and expires_at > $2 and turn_id <> $3 order by expires_at desc limit 1",
                tenant_id, now, turn_id,
            )  # fmt: skip
        return (row["id"], tuple(row["memory_ids"])) if row else None

    async def confirm(self, tenant_id: str, forgetting_id: str, now: datetime) -> int:
        """Forget what was asked about; return how many memories went. Confirming again changes nothing."""
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow(
                "select memory_ids, phrases, confirmed from memory_forgettings where tenant_id = $1 and id = $2"
                " for update",
                tenant_id, forgetting_id,
            )  # fmt: skip
            if row is None or row["confirmed"]:
                return 0
            going = await connection.fetch(
                "select id, text, knowledge from memories where tenant_id = $1 and id = any ($2)",
                tenant_id, row["memory_ids"],
            )  # fmt: skip
            staying = await connection.fetch(
                "select text from memories where tenant_id = $1 and id <> all ($2) and kind = 'told'",
                tenant_id,
                row["memory_ids"],
            )
            texts = [one["text"] for one in going]
            phrases = phrases_of(texts, row["phrases"], [one["text"] for one in staying])
            await connection.execute(
                "update memories set superseded_by = null where tenant_id = $1 and superseded_by = any ($2)",
                tenant_id, row["memory_ids"],
            )  # fmt: skip
            await connection.execute(
                "delete from memories where tenant_id = $1 and id = any ($2)", tenant_id, row["memory_ids"]
            )
            terms = {term for one in going for term in terms_of(one["knowledge"])}
            await connection.execute(
                "delete from memory_terms where tenant_id = $1 and term = any ($2)", tenant_id, sorted(terms)
            )
            await connection.execute("update memory_versions set epoch = epoch + 1 where tenant_id = $1", tenant_id)
            await connection.execute(
                "update memory_forgettings set confirmed = true, phrases = $3, expires_at = $4"
                " where tenant_id = $1 and id = $2",
                tenant_id, forgetting_id, phrases, now,
            )  # fmt: skip
            await connection.execute(
                "delete from memory_forgettings where tenant_id = $1 and not confirmed and memory_ids && $2::text[]",
                tenant_id, row["memory_ids"],
            )  # fmt: skip
        return len(going)

    async def blot_out(self, tenant_id: str, now: datetime | None = None) -> bool:
        """Blot out what was confirmed, in all that was said; True when nothing of it is left.

        `now`: what was confirmed `LOOKED_FOR` before is not looked for again.
        """
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select id, phrases, expires_at from memory_forgettings where tenant_id = $1 and confirmed", tenant_id
            )
            done, indexed = True, False
            for row in rows:
                phrases = written(row["phrases"])
                indexed |= bool(await connection.fetchval(
                    "with gone as (delete from memories where tenant_id = $1 and says_any(text, $2) returning 1)"
                    " select exists (select from gone)"
                    " or exists (select from memory_terms where tenant_id = $1 and says_any(term, $2))",
                    tenant_id, phrases,
                ))  # fmt: skip
                gone = await connection.fetchval("select blot_out($1, $2)", tenant_id, phrases)
                done &= bool(gone)
                over = now is not None and row["expires_at"] + LOOKED_FOR < now
                if over and not gone:
                    _log.warning("memory_forgetting_left", forgetting=row["id"])
                if gone or over:
                    await connection.execute(
                        "delete from memory_forgettings where tenant_id = $1 and id = $2", tenant_id, row["id"]
                    )
            if indexed:  # else an approval that waits for a day would have the index made anew every half minute
                await connection.execute("update memory_versions set epoch = epoch + 1 where tenant_id = $1", tenant_id)
        return done


def phrases_of(texts: Sequence[str], asked: Sequence[str], staying: Iterable[str]) -> list[str]:
    """Return what must not be found any more: the statements, and the telling words that no other memory uses.

    A name or a number in them is telling by itself; any other word only if the person named it when they asked.
    """
    kept = {stem(word) for text in staying for word in words_of(text)}
    named = {stem(word) for phrase in asked for word in words_of(phrase)}
    telling: list[str] = []
    for text in texts:
        names = {word for name in names_in(text) for word in words_of(name)}
        for word in words_of(text):
            number = sum(letter.isdigit() for letter in word) >= LEAST
            wanted = word in names or number or stem(word) in named
            if wanted and len(word) >= LEAST and word not in STOP_WORDS and stem(word) not in kept:
                telling.append(word)
    return list(dict.fromkeys([*texts, *telling]))


def written(phrases: Sequence[str]) -> list[str]:
    """Return each phrase as it stands in text, and as JSON writes it inside a text."""
    forms: list[str] = []
    for phrase in phrases:
        forms += [phrase, json.dumps(phrase)[1:-1], json.dumps(phrase, ensure_ascii=False)[1:-1]]
    return list(dict.fromkeys(forms))
