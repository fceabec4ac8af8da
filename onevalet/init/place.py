"""The place to run, and its needs besides a model and a channel: database, Redis, keys, passwords."""

import asyncio
import base64
import os
import secrets

from redis.exceptions import RedisError

from core.db.pending import connected
from core.db.redis_client import redis_client
from core.errors import ConfigError
from onevalet.init.dialogue import Dialogue, Option, Wrong
from onevalet.init.draft import Draft

PLACE = "run"
"""The name of the question about the place."""
_OPTIONS = (
    Option("dev", "With `bin/dev`, which brings its own Postgres and Valkey: to try it, or for yourself"),
    Option("compose", "With Docker Compose, which brings both: on a server"),
    Option("own", "With a Postgres and a Redis of yours: systemd, a platform with a Procfile, Kubernetes"),
)
OLDEST = 15
"""The oldest Postgres that serves."""
_TO_RUN = {
    "dev": ("bin/dev",),
    "compose": ("docker compose up --detach --build", "docker compose exec web python -m onevalet doctor"),
    "own": (
        "bin/onevalet migrate",
        "bin/onevalet web        # and, in another terminal:",
        "bin/onevalet worker",
        "bin/onevalet doctor",
    ),
}


def set_up_place(talk: Dialogue, draft: Draft) -> str:
    """Ask for the place to run and save its settings; return the place."""
    place = talk.choose(PLACE, "Where will OneValet run?", _OPTIONS, "own" if draft.has("DATABASE_URL") else "dev")
    needed: dict[str, str] = {}
    if place == "own":
        url = draft.value("DATABASE_URL")
        question = "Address of Postgres (postgresql://user:password@host/name)"
        needed["DATABASE_URL"], version = talk.ask_until(
            "DATABASE_URL", question, lambda url: _prove_database(draft, url), default=url, secret=bool(url)
        )
        talk.say(f"  Postgres {version} answers, with pgvector.")
        url = draft.value("REDIS_URL")
        needed["REDIS_URL"], _ = talk.ask_until(
            "REDIS_URL",
            "Address of Redis or Valkey (redis://host:6379/0)",
            lambda url: _prove_redis(draft, url),
            default=url,
            secret=bool(url),
        )
        talk.say("  Redis answers.")
    if place == "compose":
        for name in ("POSTGRES_PASSWORD", "POSTGRES_SERVING_PASSWORD"):
            needed[name] = draft.value(name) or secrets.token_hex(16)
    if place != "dev" and not draft.value("ONEVALET_SECRET_KEYS"):
        needed["ONEVALET_SECRET_KEYS"] = base64.b64encode(os.urandom(32)).decode()
        talk.say("  A new key for stored credentials is in ONEVALET_SECRET_KEYS: keep a copy of it elsewhere.")
    draft.save(needed)
    return place


def what_to_run(place: str) -> tuple[str, ...]:
    """Return the commands that start it there, in order."""
    return _TO_RUN[place]


def _prove_database(draft: Draft, url: str) -> str:
    """Return the version of a Postgres that can serve; raise `Wrong` for any other."""
    settings = draft.settings({"DATABASE_URL": url})
    assert settings.database_url is not None  # noqa: S101
    try:
        return asyncio.run(_look_at(settings.database_url.get_secret_value()))
    except ConfigError as error:
        raise Wrong(f"{error} Is it running, and are user, password and host right?") from error


async def _look_at(url: str) -> str:
    async with connected(url) as connection:
        version = connection.get_server_version()
        vector = await connection.fetchval("select count(*) from pg_available_extensions where name = 'vector'")
    if version.major < OLDEST:
        raise Wrong(f"It is Postgres {version.major}: OneValet needs {OLDEST} or newer.")
    if not vector:
        raise Wrong(
            "It has no pgvector: install it there (Debian: postgresql-NN-pgvector), or take a Postgres with it."
        )
    return f"{version.major}.{version.minor}"


def _prove_redis(draft: Draft, url: str) -> None:
    settings = draft.settings({"REDIS_URL": url})
    assert settings.redis_url is not None  # noqa: S101
    try:
        asyncio.run(_ping(settings.redis_url.get_secret_value()))
    except (RedisError, OSError) as error:
        raise Wrong(
            f"No Redis answers there ({type(error).__name__}): is it running, and is the password right?"
        ) from error


async def _ping(url: str) -> None:
    async with redis_client(url, socket_timeout=3, socket_connect_timeout=3) as redis:
        await redis.ping()
