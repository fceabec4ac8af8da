"""A person's profile: a few facts, each stated, inferred or from outside, which the person can list and undo."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.db.database import Connection, Database
from core.ids import IdMaker
from core.json_types import storable
from core.language.catalogue import gettext, gettext_noop
from core.language.tags import named_tag
from core.people.merge import MergeHook
from core.people.preferences import FROM_PROFILE

MAX_VALUE = 300
"""Characters of a fact."""
LANGUAGE = "language"
"""The fact that is a preference too."""
RESTORE_FACT = "restore_profile_fact"
"""The tool that lets an undone fact count again; it ships with the plugins."""
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")


class FactSource(StrEnum):
    """The source of a fact."""

    TOLD = gettext_noop("told")
    INFERRED = gettext_noop("inferred")
    OUTSIDE = gettext_noop("outside")
    """From content that was read, not from the person."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact. The person refers to it by its `number`."""

    number: int
    key: str
    value: str
    source: FactSource
    since: datetime


@dataclass(frozen=True, slots=True)
class Undone:
    """A fact that was undone, and the value before it, which counts again, if any."""

    key: str
    value: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class FactTakenBack:
    """A fact that was taken back, in words (empty if there was none), and the text for the person."""

    fact: str
    text: str


class ProfileStore:
    """Read and change people's profiles."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self._database = database
        self._make_id = make_id

    async def read(self, tenant_id: str) -> Sequence[Fact]:
        """Return the current facts in the order of their numbers."""
        return facts_of(await self._database.rows("select * from read_profile($1)", tenant_id))

    async def keep(
        self, tenant_id: str, key: str, value: str, source: FactSource, turn_id: str, now: datetime
    ) -> int | None:
        """Store a fact, replacing the fact of the same key; return its number, or None if nothing changes.

        An inferred fact does not replace a stated fact, and an undone fact is not inferred again.
        """
        value = storable(value).strip()
        if not _KEY.fullmatch(key) or not 1 <= len(value) <= MAX_VALUE:
            return None
        # A language that the person stated is used to write to them, until they choose another.
        tag = named_tag(value) if key == LANGUAGE and source is FactSource.TOLD else ""
        row = await self._database.call(
            "select keep_fact($1,$2,$3,$4,$5,$6,$7) as number, note_language($1,$8,$9)",
            tenant_id,
            self._make_id("fact"),
            key,
            value,
            source.value,
            turn_id,
            now,
            FROM_PROFILE,
            tag,
        )
        return row["number"] if row else None

    async def undo(self, tenant_id: str, number: int, now: datetime, call: str) -> Undone | None:
        """Undo a fact; return None if there is no current fact of this number.

        A repeat of the call, after a crash, undoes nothing more and returns the same again.
        """
        row = await self._database.call("select * from undo_fact($1,$2,$3,$4)", tenant_id, number, now, call)
        if row is None:
            return None
        await self._speak(tenant_id, row["key"], row["before"])
        return Undone(row["key"], row["value"], row["before"])

    async def restore(self, tenant_id: str, number: int) -> bool:
        """Let an undone fact count again; return False if a newer fact counts in its place."""
        row = await self._database.call("select * from restore_fact($1,$2)", tenant_id, number)
        if row is None:
            return False
        await self._speak(tenant_id, row["key"], row["value"])
        return True

    async def _speak(self, tenant_id: str, key: str, language: str) -> None:
        """If the fact is the person's language, write to them in the language that counts now."""
        if key == LANGUAGE:
            # What was found there and nowhere else.
            await self._database.repeat(
                tenant_id,
                "update tenants set language = '', language_from = '' where tenant_id = $1 and language_from = $2",
                FROM_PROFILE,
            )
            await self._database.call("select note_language($1,$2,$3)", tenant_id, FROM_PROFILE, named_tag(language))


class ProfileMerge(MergeHook):
    """Merge profiles: stated facts count first, and then those of the person who stays."""

    async def after(self, connection: Connection, kept: str, gone: str) -> None:
        await connection.execute(
            "update profile_facts f set replaced_by = b.best from (select id, first_value(id) over ("
            "  partition by key order by source = 'told' desc, number) as best from profile_facts"
            "  where tenant_id = $1 and replaced_by is null and undone_at is null) b"
            " where f.tenant_id = $1 and f.id = b.id and b.best <> f.id",
            kept,
        )


def written_facts(facts: Sequence[Fact]) -> str:
    """Return facts as text for the person, a line each."""
    if not facts:
        return gettext("I know nothing about you yet.")
    lines = [
        f"{fact.number}. {fact.key.replace('_', ' ')}: {fact.value} ({gettext(fact.source.value)})" for fact in facts
    ]
    return "\n".join([gettext("What I know about you:"), *lines])


def facts_of(rows: Iterable[Any]) -> list[Fact]:
    """Return rows of `read_profile`, or the same as JSON, as values."""
    return [
        Fact(row["number"], row["key"], row["value"], FactSource(row["source"]), _moment(row["since"])) for row in rows
    ]


def _moment(since: datetime | str) -> datetime:
    return since if isinstance(since, datetime) else datetime.fromisoformat(since)


def fact_lines(facts: Sequence[Fact]) -> tuple[str, ...]:
    return tuple(f"{fact.key}: {fact.value} ({fact.source.value})" for fact in facts)
