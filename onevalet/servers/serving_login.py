"""The login of serving processes: it owns nothing, and may only act as the serving role."""

import asyncio
import os
import secrets
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from core.db.serving import ROLE

USER = "onevalet_serving"
_RIGHTS = "login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls"


async def make_serving_login(owner_url: str, password_file: Path) -> str:
    """Create the login and the password file if they are missing; return the URL to log in with.

    Data of an older version has neither, so both are checked at every start.
    """
    password = await asyncio.to_thread(_password, password_file)
    connection = await asyncpg.connect(owner_url, timeout=10)
    try:
        async with connection.transaction():
            for role in (ROLE, USER):
                if not await connection.fetchval("select 1 from pg_roles where rolname = $1", role):
                    await connection.execute(f"create role {role}")
            # A role's password cannot be a parameter.
            quoted = await connection.fetchval("select quote_literal($1::text)", password)
            await connection.execute(f"alter role {USER} {_RIGHTS} password {quoted}")
            await connection.execute(f"grant {ROLE} to {USER} with inherit false, set true")
    finally:
        await connection.close()
    parts = urlsplit(owner_url)
    return parts._replace(netloc=f"{USER}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()


def _password(file: Path) -> str:
    if not file.exists():
        # Under another name first, so that no reader sees half of it.
        fresh = file.with_name(f"{file.name}.new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(secrets.token_urlsafe(32))
        fresh.replace(file)
    return file.read_text()
