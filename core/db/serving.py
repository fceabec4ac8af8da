"""Connections that serve as `onevalet_app`, to Postgres itself or through PgBouncer in transaction mode.

Postgres takes the role with the first packet. PgBouncer refuses that, or leaves it out: there the role is the login's
own (`alter role … set role`), and no statement is prepared for longer than it runs, because the next statement may go
to another server connection. A login without that role gets no connection.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import structlog

from core.db.connector import Connection, Connector

ROLE = "onevalet_app"
_SETTINGS = {
    "role": ROLE,
    # A statement is planned once for a connection, instead of five times and whenever its values promise a better plan.
    # A function whose plan depends on its values says so itself: `set plan_cache_mode = force_custom_plan`.
    "plan_cache_mode": "force_generic_plan",
    # Statements here read few rows. To start processes for one, or to compile it, takes longer than to run it.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}

_log = structlog.get_logger()


class WithoutRole(ConnectionError):
    """The connection would serve as another role, past row-level security."""


class ServingConnector(Connector):
    """Open connections as the serving role; learn once whether there is a pooler between."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._pooled = False

    async def __call__(self, dsn: str | None = None, **options: Any) -> Connection:
        """Return a connection as the serving role; raises `WithoutRole`, and the errors of `Connector`."""
        if not self._pooled:
            try:
                connection = await super().__call__(dsn, **_as_serving(options))
            except asyncpg.ProtocolViolationError as error:
                if "startup parameter" not in str(error):
                    raise
            else:
                if not await _ask(connection, _is_pooled):
                    return connection
                await connection.close()
            if not self._pooled:  # another call may have found out meanwhile
                self._pooled = True
                _log.info("database_pooled")
        connection = await super().__call__(dsn, **options | {"statement_cache_size": 0})
        await _ask(connection, _require_role)
        return connection


def _as_serving(options: dict[str, Any]) -> dict[str, Any]:
    return options | {"server_settings": options.get("server_settings", {}) | _SETTINGS}


async def _ask[Answer](connection: Connection, question: Callable[[Connection], Awaitable[Answer]]) -> Answer:
    """Return the answer to a question about a connection before anything uses it; drop the connection on an error."""
    try:
        return await question(connection)
    except BaseException:
        connection.terminate()
        raise


async def _is_pooled(connection: Connection) -> bool:
    # A pooler reports its own number to clients in place of the server's.
    return bool(await connection.fetchval("select pg_backend_pid()") != connection.get_server_pid())


async def _require_role(connection: Connection) -> None:
    if await connection.fetchval("select current_user") != ROLE:
        _log.error("database_without_role", todo="let the login have it from the server: docs/deploy.md, PgBouncer")
        raise WithoutRole
