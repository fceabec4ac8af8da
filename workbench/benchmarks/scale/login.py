"""The login of the processes: without rights of its own, its role set by Postgres, as PgBouncer wants it."""

from urllib.parse import urlsplit

import asyncpg

from core.db.serving import ROLE

LOGIN = "onevalet_pooled"


async def make_login(url: str) -> str:
    """Make it by the owner's address of a migrated database; return its own address."""
    admin = await asyncpg.connect(url)
    try:
        await admin.execute(
            f"create role {LOGIN} login noinherit password '{LOGIN}'; grant {ROLE} to {LOGIN};"
            f" alter role {LOGIN} set role = '{ROLE}'"
        )
    finally:
        await admin.close()
    owners = urlsplit(url)
    return owners._replace(netloc=f"{LOGIN}:{LOGIN}@{owners.hostname}:{owners.port}").geturl()
