"""The Postgres server itself: who logs in there."""

from collections.abc import Sequence

from core.db.database import Database
from core.messaging.channels import Check


async def check_login(database: Database) -> Sequence[Check]:
    """Check whether the user of DATABASE_URL is held to row-level security."""
    user = await database.one("select rolsuper or rolbypassrls as free from pg_roles where rolname = session_user")
    if not user["free"]:
        return []
    todo = "let `web` and `worker` log in as one that may only act as onevalet_app: see docs/deploy.md"
    return [Check("database user", True, "a superuser, or one past row-level security", todo)]
