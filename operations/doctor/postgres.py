"""The Postgres server itself: its version, its extension, our role, its clock, and who logs in there."""

import time
from collections.abc import Sequence

from core.db.database import Database
from core.db.serving import ROLE
from core.messaging.channels import Check
from jobs.upkeep.clock_check import MAX_APART

OLDEST = 15
"""The oldest Postgres that serves."""
_LOOK = """
select current_setting('server_version_num')::int / 10000 as major, current_setting('server_version') as version,
    (select extversion from pg_extension where extname = 'vector') as vector,
    (select rolsuper or rolbypassrls or rolcreaterole from pg_roles where rolname = $1) as strong,
    current_user = $1 as serves, extract(epoch from clock_timestamp())::float8 as seconds
"""


async def check_server(database: Database) -> Sequence[Check]:
    """Check version, extension, serving role and clock."""
    before = time.time()
    row = await database.one(_LOOK, ROLE)
    after = time.time()
    too_old = row["major"] < OLDEST
    fix = f"move to Postgres {OLDEST} or newer (docs/deploy.md)" if too_old else ""
    checks = [Check("Postgres", not too_old, str(row["version"]), fix)]
    fix = "" if row["vector"] else "let a DBA run `create extension vector`, then run `bin/onevalet migrate`"
    checks.append(Check("pgvector", not fix, str(row["vector"] or "not installed in this database"), fix))
    checks.append(_judge_role(serves=bool(row["serves"]), strong=bool(row["strong"])))
    # How long the answer took counts in favour of the machine's.
    ahead = min(abs(row["seconds"] - before), abs(row["seconds"] - after))
    if before <= row["seconds"] <= after:
        ahead = 0.0
    apart = ahead > MAX_APART
    detail = f"{ahead:,.0f} s apart from this machine's" if ahead >= 1 else "agrees with this machine's"
    fix = "set the time of both by NTP: what time decides waits until they agree" if apart else ""
    return [*checks, Check("Postgres' clock", not apart, detail, fix)]


async def check_login(database: Database) -> Sequence[Check]:
    """Check whether the user of DATABASE_URL is held to row-level security."""
    user = await database.one("select rolsuper or rolbypassrls as free from pg_roles where rolname = session_user")
    if not user["free"]:
        return []
    todo = "let `web` and `worker` log in as one that may only act as onevalet_app: see docs/deploy.md"
    return [Check("database user", True, "a superuser, or one past row-level security", todo)]


def _judge_role(*, serves: bool, strong: bool) -> Check:
    if not serves:
        return Check("database role", False, f"connections do not act as {ROLE}", "run `bin/onevalet migrate`")
    if strong:
        fix = f"let a DBA run `alter role {ROLE} nosuperuser nobypassrls nocreaterole`"
        return Check("database role", False, f"{ROLE} is past row-level security: people are not kept apart", fix)
    return Check("database role", True, f"{ROLE}, held to row-level security")
