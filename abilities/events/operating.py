"""The commands on events: make and list sources, and retry events that were set aside."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from abilities.events.source_types import SourceOptions, Style
from abilities.events.sources import EventSources, SourceError
from abilities.events.store import EventRecord, EventRef, EventStore
from core.credentials.store import CredentialError, CredentialStore
from core.errors import ConfigError
from core.ids import make_id
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import one_tenant, open_database, reach, system_keys
from onevalet.settings import Settings


@dataclass(frozen=True, slots=True)
class _Opened:
    sources: EventSources
    events: EventStore
    tenant: str
    url: str


async def add_source(
    settings: Settings, tenant: str, name: str, style: Style, options: SourceOptions, *, read_secret: bool
) -> None:
    """Create a source; print its URL, and its secret, which is shown only this once."""
    given = _read_secret() if read_secret else ""
    async with _opened(settings, tenant) as opened:
        source, secret = await opened.sources.add(opened.tenant, name, style, options, given)
    url = f"{opened.url}/events/{source.id}"
    shown = f"secret  {secret}   (shown this once)" if not given else "secret  the one you gave"
    say(f"source  {name}, {style.value}, of {opened.tenant}\nURL     {url}\n{shown}")


async def print_sources(settings: Settings, tenant: str, *, as_json: bool) -> None:
    """List a person's sources, without secrets."""
    async with _opened(settings, tenant) as opened:
        sources = await opened.sources.list(opened.tenant)
    urls = {source.id: f"{opened.url}/events/{source.id}" for source in sources}
    if as_json:
        listed = [
            {
                "name": source.name,
                "style": source.style.value,
                "url": urls[source.id],
                "options": asdict(source.options),
            }
            for source in sources
        ]
        say_json(listed)
        return
    for source in sources:
        say(f"{source.name:<24} {source.style.value:<8} {urls[source.id]}")
    if not sources:
        say(f"{opened.tenant} has no sources: make one with `events source add NAME`.")


async def delete_source(settings: Settings, tenant: str, name: str) -> None:
    """Delete a source; raise `ConfigError` when there is none of this name."""
    async with _opened(settings, tenant) as opened:
        if not await opened.sources.delete(opened.tenant, name):
            raise ConfigError(f"{opened.tenant} has no source {name}.")
    say(f"Deleted: {name}, of {opened.tenant}. What it sends is refused within seconds.")


async def print_events(settings: Settings, tenant: str, *, set_aside: bool, as_json: bool) -> None:
    """List a person's newest events and their states, or only those that were set aside."""
    async with _opened(settings, tenant) as opened:
        records = await opened.events.recent(opened.tenant, poison_only=set_aside)
    if as_json:
        say_json([_as_json(record) for record in records])
        return
    for record in records:
        event, state = record.event, record.state if record.group else "nobody wants it"
        reason = f"  {record.attempts} tries: {record.reason}" if record.reason else ""
        say(f"{record.received_at:%Y-%m-%d %H:%M:%S}  {event.source}:{event.type}  {event.id}  {state}{reason}")
    if not records:
        say("None was set aside." if set_aside else "No events yet.")


async def retry_event(settings: Settings, tenant: str, source: str, id: str) -> None:
    """Handle an event again that was set aside; raise `ConfigError` when it was not."""
    async with _opened(settings, tenant) as opened:
        if not await opened.events.retry(EventRef(opened.tenant, source, id)):
            raise ConfigError(f"No event {id} of {source} was set aside.")
    say("It is tried again within seconds.")


@asynccontextmanager
async def _opened(settings: Settings, tenant: str) -> AsyncIterator[_Opened]:
    url = settings.public_url or reach(settings).gateway_url or f"http://{settings.host}:{settings.port}"
    async with open_database(settings, "events", refusals=(SourceError, CredentialError)) as database:
        tenant = await one_tenant(database, tenant, nobody="Nobody is here yet: a source belongs to a person.")
        sources = EventSources(database, CredentialStore(database, system_keys(settings)), make_id)
        yield _Opened(sources, EventStore(database, make_id), tenant, url)


def _read_secret() -> str:
    if sys.stdin.isatty():
        sys.stderr.write("Paste the secret, then Enter.\n")
    secret = sys.stdin.readline().strip()
    if not secret:
        raise ConfigError("Standard input must hold the secret.")
    return secret


def _as_json(record: EventRecord) -> dict[str, object]:
    return {
        "source": record.event.source,
        "type": record.event.type,
        "id": record.event.id,
        "received_at": record.received_at.isoformat(),
        "group": record.group,
        "state": record.state,
        "attempts": record.attempts,
        "reason": record.reason,
    }
