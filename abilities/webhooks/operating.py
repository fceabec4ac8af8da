"""The commands on webhooks."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from abilities.webhooks.ability import ABILITY
from abilities.webhooks.endpoints import Endpoint, Endpoints, EventKind
from abilities.webhooks.signing import as_text, secrets_of
from core.db.database import Database
from core.errors import ConfigError, ToolFailed
from core.http.address_guard import Barred, read_target
from core.ids import make_id
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import foundation_of, open_database, system_keys
from onevalet.settings import Settings


async def add(settings: Settings, url: str, kinds: Sequence[str]) -> None:
    """Subscribe an address to kinds of events, by default to all. Raise `ConfigError` for a wrong address or kind."""
    if unknown := [kind for kind in kinds if kind not in tuple(EventKind)]:
        raise ConfigError(f"There is no kind {unknown[0]!r}; there are {', '.join(EventKind)}.")
    async with _opened(settings, "webhooks add") as (endpoints, database):
        await _check(settings, database, url)
        endpoint = await endpoints.add(url, [EventKind(kind) for kind in kinds] or list(EventKind))
    say(f"endpoint  {endpoint.id}, {', '.join(endpoint.kinds)}\nsecret    {_secret(settings, endpoint)}")


async def print_endpoints(settings: Settings, *, as_json: bool) -> None:
    """List the endpoints, without secrets."""
    async with _opened(settings, "webhooks list") as (endpoints, database):
        listed = await endpoints.all()
        counts = {row["endpoint_id"]: row for row in await database.rows("select * from count_webhooks()")}
    shown = [
        {
            "id": endpoint.id,
            "url": endpoint.url,
            "kinds": list(endpoint.kinds),
            "active": endpoint.active,
            "reason": endpoint.reason,
            "waiting": counts[endpoint.id]["waiting"] if endpoint.id in counts else 0,
            "failed": counts[endpoint.id]["failed"] if endpoint.id in counts else 0,
        }
        for endpoint in listed
    ]
    if as_json:
        say_json(shown)
        return
    for one in shown:
        state = "active" if one["active"] else f"disabled: {one['reason']}"
        say(f"{one['id']}  {one['url']}\n    {state}; {one['waiting']} waiting, {one['failed']} given up")
    if not shown:
        say("Nobody is told of events: `webhooks add URL` subscribes an address.")


async def print_secret(settings: Settings, id_: str) -> None:
    """Print the secret of an endpoint."""
    async with _opened(settings, "webhooks secret") as (endpoints, _):
        say(_secret(settings, await _known(endpoints, id_)))


async def rotate(settings: Settings, id_: str) -> None:
    """Make a new secret for an endpoint, and print it."""
    async with _opened(settings, "webhooks rotate") as (endpoints, _):
        await endpoints.rotate(await _known(endpoints, id_))
        endpoint = await _known(endpoints, id_)
    say(f"secret    {_secret(settings, endpoint)}\nThe one before signs too for a day.")


async def change(settings: Settings, id_: str, *, active: bool) -> None:
    """Enable or disable an endpoint."""
    async with _opened(settings, "webhooks change") as (endpoints, _):
        endpoint = await _known(endpoints, id_)
        await endpoints.change(endpoint, active=active)
    say(f"{'Enabled' if active else 'Disabled'}: {endpoint.id}, {endpoint.host}.")


async def delete(settings: Settings, id_: str) -> None:
    """Delete an endpoint."""
    async with _opened(settings, "webhooks delete") as (endpoints, _):
        endpoint = await _known(endpoints, id_)
        await endpoints.delete(endpoint)
    say(f"Deleted: {endpoint.id}, {endpoint.host}.")


@asynccontextmanager
async def _opened(settings: Settings, name: str) -> AsyncIterator[tuple[Endpoints, Database]]:
    async with open_database(settings, name) as database:
        yield Endpoints(database, make_id), database


async def _known(endpoints: Endpoints, id_: str) -> Endpoint:
    if (endpoint := await endpoints.find(id_)) is None:
        raise ConfigError(f"There is no endpoint {id_}: `webhooks list` names them.")
    return endpoint


async def _check(settings: Settings, database: Database, url: str) -> None:
    """Raise `ConfigError` for an address that cannot be called."""
    http = foundation_of(ABILITY, settings, database).http(())
    try:
        read_target(url)
        await http.check(url)
    except (Barred, ToolFailed, ValueError) as error:
        raise ConfigError(
            f"The address {url} cannot be called: it must begin with https:// or http://, and be public, or its host"
            " named in ONEVALET_FETCH_HOSTS."
        ) from error
    finally:
        await http.close()


def _secret(settings: Settings, endpoint: Endpoint) -> str:
    newest = secrets_of(system_keys(settings), endpoint.id, endpoint.generation, None, datetime.now(UTC))[0]
    return as_text(newest)
