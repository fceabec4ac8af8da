"""Each person's event sources, with the secrets that prove them."""

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import asyncpg

from abilities.events.source_types import RESERVED, EventSource, SourceOptions, Style
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.errors import OneValetError
from core.ids import IdMaker, for_person

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class SourceKey:
    """The lookup keys of a source; `bearer_key` is `bearer_key(secret)` of a bearer's secret, else empty."""

    id: str
    bearer_key: bytes
    created_at: datetime


class SourceError(OneValetError):
    """A source cannot be created or found; the message is a plain sentence."""


class EventSources:
    """Create, find, list and delete sources."""

    def __init__(self, database: Database, credentials: CredentialStore, make_id: IdMaker) -> None:
        self._database = database
        self._credentials = credentials
        self._make_id = make_id

    async def add(
        self, tenant_id: str, name: str, style: Style, options: SourceOptions | None = None, secret: str = ""
    ) -> tuple[EventSource, str]:
        """Create a source; return it and its secret, which is generated unless given. Raises `SourceError`."""
        if not NAME.fullmatch(name) or name in RESERVED:
            raise SourceError(
                f"A source cannot be called {name!r}: 1 to 64 letters a-z, digits, - and _, and not a channel's name."
            )
        if style is Style.STRIPE and not secret:
            raise SourceError("Stripe makes the secret of an endpoint itself (whsec_…): hand it in.")
        if options is not None and style.signs_body_only and (options.id_header or options.type_header):
            raise SourceError(
                f"A signature of {style.value} covers the body only: name fields of it, not headers,"
                " or make a source for each type."
            )
        secret = secret or for_person(tenant_id, secrets.token_urlsafe(32))
        source = EventSource(
            tenant_id, for_person(tenant_id, self._make_id("src")), name, style, options or SourceOptions()
        )
        hashed, version, sealed = None, None, None
        if style is Style.BEARER:
            hashed = hash_secret(secret)
        else:
            version, sealed = await self._credentials.seal_for(tenant_id, secret.encode(), "event source", source.id)
        try:
            await self._database.tenant_rows(
                tenant_id,
                "insert into event_sources (tenant_id, id, name, style, secret_hash, key_version, sealed, options)"
                " values ($1,$2,$3,$4,$5,$6,$7,$8)",
                source.id,
                name,
                style.value,
                hashed,
                version,
                sealed,
                source.options.to_json(),
            )
        except asyncpg.UniqueViolationError as error:
            raise SourceError(f"There is a source called {name} already: delete it first.") from error
        except asyncpg.ForeignKeyViolationError as error:
            raise SourceError(f"There is no tenant {tenant_id}.") from error
        return source, secret

    async def find(self, source: str, bearer: str = "") -> EventSource | None:
        """Return a source by its id, or by its name together with the bearer's secret, which names the tenant."""
        hashed = hash_secret(bearer) if bearer else None
        named = await self._database.call("select * from find_event_source($1,$2)", source, hashed)
        if named is None:
            return None
        row = await self._database.tenant_row(
            named["tenant_id"], "select * from event_sources where tenant_id = $1 and id = $2", named["source_id"]
        )
        return await self._read(row) if row is not None else None

    async def keys(self, since: datetime | None) -> Sequence[SourceKey]:
        """Return the lookup keys of all people's sources created since a moment, without their tenants."""
        rows = await self._database.rows(
            "select * from event_source_keys($1)", since or datetime.min.replace(tzinfo=UTC)
        )
        return [SourceKey(row["source_id"], row["bearer_key"], row["created_at"]) for row in rows]

    async def list(self, tenant_id: str) -> list[EventSource]:
        """Return a person's sources, without their secrets."""
        rows = await self._database.tenant_rows(
            tenant_id, "select * from event_sources where tenant_id = $1 order by name"
        )
        return [_without_secret(row) for row in rows]

    async def delete(self, tenant_id: str, name: str) -> bool:
        """Delete a source, but not its events; return False when there is none of this name."""
        row = await self._database.tenant_row(
            tenant_id, "delete from event_sources where tenant_id = $1 and name = $2 returning id", name
        )
        return row is not None

    async def _read(self, row: asyncpg.Record) -> EventSource:
        source, secret = _without_secret(row), b""
        if row["sealed"] is not None:
            secret = await self._credentials.open_for(
                source.tenant_id, row["key_version"], row["sealed"], "event source", source.id
            )
        return replace(source, secret=secret, secret_hash=row["secret_hash"] or b"")


def hash_secret(secret: str) -> bytes:
    """Return the stored hash of a bearer's secret: 32 random bytes need no salt and no slow hash."""
    return hashlib.sha256(b"onevalet event source\0" + secret.encode(errors="surrogateescape")).digest()


def bearer_key(secret: str) -> bytes:
    """Return the lookup key of a bearer's secret: a hash of its hash, which proves nothing."""
    return hashlib.sha256(hash_secret(secret)).digest()


def _without_secret(row: asyncpg.Record) -> EventSource:
    options = SourceOptions.from_json(row["options"])
    former = tuple(row["former_names"])
    return EventSource(row["tenant_id"], row["id"], row["name"], Style(row["style"]), options, former_names=former)
