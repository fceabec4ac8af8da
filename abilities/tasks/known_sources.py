"""The sources of a person's events."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from abilities.events.source_types import MAIL, MAIL_RECEIVED
from core.db.database import Database

CHANNEL_EVENTS = ("message.received", "delivery.failed")
"""The types of events of a person's own channels."""


@dataclass(frozen=True, slots=True)
class KnownSources:
    """The sources of a person's events: their channels, their named sources, and the types that came from each."""

    channels: Collection[str] = ()
    sources: Collection[str] = ()
    seen: Mapping[str, Collection[str]] = field(default_factory=dict)

    def with_mail(self) -> "KnownSources":
        """Return the sources with that of new mail, for a person with a mailbox."""
        return replace(self, seen={**self.seen, MAIL: {MAIL_RECEIVED, *self.seen.get(MAIL, ())}})

    def names(self) -> list[str]:
        return sorted({*self.channels, *self.sources, *self.seen})

    def types(self, source: str) -> list[str]:
        own = CHANNEL_EVENTS if source in self.channels else ()
        return sorted({*own, *self.seen.get(source, ())})


async def read_sources(database: Database, tenant_id: str) -> KnownSources:
    """Return a person's channels and sources, and the types of events that came from each."""
    rows = await database.tenant_rows(
        tenant_id,
        "select 'channel' as kind, channel as name, '' as type from identities where tenant_id = $1"
        " union select 'source', name, '' from event_sources where tenant_id = $1"
        " union select 'seen', source, type from events where tenant_id = $1",
    )
    seen: dict[str, set[str]] = {}
    for row in rows:
        if row["kind"] == "seen":
            seen.setdefault(row["name"], set()).add(row["type"])
    named = {kind: {row["name"] for row in rows if row["kind"] == kind} for kind in ("channel", "source")}
    return KnownSources(named["channel"], named["source"], seen)
