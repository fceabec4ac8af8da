"""The database and the Redis of a process on this machine: those of the settings, or embedded servers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from core.db.database import Database
from core.errors import ConfigError
from onevalet.migrating import migrate
from onevalet.servers.server import EmbeddedServer
from onevalet.servers.services import embedded_services
from onevalet.settings import Settings
from onevalet.wiring.secret_keys import key_for


@asynccontextmanager
async def open_services(settings: Settings, servers: list[EmbeddedServer] | None = None) -> AsyncIterator[Settings]:
    """Start an embedded server for each address that is not set, and migrate; yield the settings to serve with.

    `servers` is filled with the embedded servers. Only the migration logs in as the owner of an embedded database. The
    secret key is created at the first start; raise `ConfigError` if it is lost.
    """
    async with embedded_services(
        settings.onevalet_home, database=settings.database_url is None, redis=settings.redis_url is None
    ) as services:
        if servers is not None:
            servers.extend(services.servers)
        await migrate(services.database_url or plain(settings.database_url))
        addresses: dict[str, object] = {}
        if services.serving_url is not None:
            addresses["database_url"] = SecretStr(services.serving_url)
            # Backups need who may read everything; an address that is set stays.
            if settings.onevalet_backup_database_url is None:
                addresses["onevalet_backup_database_url"] = SecretStr(str(services.database_url))
        if services.redis_url is not None:
            addresses["redis_url"] = SecretStr(services.redis_url)
        yield await _with_key(settings.model_copy(update=addresses))


async def _with_key(settings: Settings) -> Settings:
    database = Database(plain(settings.database_url), size=1, name="onevalet key")
    try:
        return await key_for(settings, database)
    finally:
        await database.close()


def plain(url: SecretStr | None) -> str:
    """Return an address in plain text; raise `ConfigError` if there is none."""
    if url is None:
        raise ConfigError("No address is known.")
    return url.get_secret_value()
