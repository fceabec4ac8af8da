"""People's credentials for other services, sealed per tenant in Postgres.

Each tenant has a data key, wrapped under the operator's newest secret key. A stored value opens only for the tenant,
service, account and version of the data key that it was sealed for.
"""

import base64
import builtins
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import asyncpg
import structlog

from core.credentials.encryption import CannotOpen, make_data_key, open_sealed, seal, unwrap, wrap
from core.credentials.secret_keys import SecretKeys
from core.credentials.types import ConnectedAccounts, StoredAccount
from core.db.database import Connection, Database
from core.errors import OneValetError, ToolFailed
from core.json_types import JsonObject, storable
from core.language.catalogue import gettext

PRIMARY = "primary"
MAX_NAME = 200
"""Characters of a service's name, and of an account's."""
MAX_BYTES = 64 * 1024
"""Bytes of an account's credentials, as JSON."""

TELL_AFTER = timedelta(minutes=1)
"""The time in which a turn that met a revoked account may tell its person, before a notification does."""

_log = structlog.get_logger()


class CredentialError(OneValetError):
    """Credentials cannot be stored or read; the message is a plain sentence without secrets."""


class CredentialsSealed(CredentialError):
    """Credentials do not open: a secret key is missing, or rows were changed. The operator must act."""


@dataclass(frozen=True, slots=True)
class SealedAccount:
    """An account's credentials, sealed for the person who gets them.

    `was`: its name with the person who had them.
    """

    service: str
    account_name: str
    key_version: int
    sealed: bytes
    preferred: bool
    preferred_for: tuple[str, ...]
    revoked_at: datetime | None
    attend_at: datetime | None
    created_at: datetime
    was: str

    def to_json(self) -> JsonObject:
        """Return the form that the SQL functions take."""
        return asdict(self) | {
            "sealed": base64.b64encode(self.sealed).decode(),
            "preferred_for": list(self.preferred_for),
            "revoked_at": self.revoked_at.isoformat() if self.revoked_at else None,
            "attend_at": self.attend_at.isoformat() if self.attend_at else None,
            "created_at": self.created_at.isoformat(),
        }

    @classmethod
    def of(cls, row: asyncpg.Record, name: str, key_version: int, sealed: bytes) -> "SealedAccount":
        """Return a row of `credentials`, sealed again under a name."""
        return cls(
            row["service"],
            name,
            key_version,
            sealed,
            row["preferred"],
            tuple(row["preferred_for"]),
            row["revoked_at"],
            row["attend_at"],
            row["created_at"],
            row["account_name"],
        )


class CredentialStore:
    """Save, get, list and delete the credentials of all tenants. Their content is up to each service."""

    def __init__(self, database: Database, keys: SecretKeys) -> None:
        self._database = database
        self._keys = keys

    @property
    def keys(self) -> SecretKeys:
        """Return the operator's keys, which also make the check sums of our tokens."""
        return self._keys

    def for_tenant(self, tenant_id: str) -> "TenantCredentials":
        return TenantCredentials(self, tenant_id)

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = PRIMARY) -> None:
        service, account_name = _name(service), _name(account_name)
        plain = json.dumps(credentials).encode()
        if len(plain) > MAX_BYTES:
            raise CredentialError(f"Credentials of one account have at most {MAX_BYTES // 1024} KiB.")
        version, key = await self._data_key(tenant_id)
        sealed = seal(key, plain, tenant_id, service, account_name, version)
        await self._database.rows(
            "select save_credentials($1,$2,$3,$4,$5)", tenant_id, service, account_name, version, sealed
        )

    async def get(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> JsonObject | None:
        """Return an account's credentials, or None if there are none. Raises `CredentialError`."""
        service, account_name = _name(service), _name(account_name)
        row = await self._database.call("select * from read_credentials($1,$2,$3)", tenant_id, service, account_name)
        if row is None:
            return None
        key = unwrap_data_key(self._keys, tenant_id, row)
        try:
            plain = open_sealed(key, row["sealed"], tenant_id, service, account_name, row["version"])
        except CannotOpen as error:
            _log.error("credentials_do_not_open", tenant=tenant_id, service=service)
            raise CredentialsSealed("These credentials were changed where they are stored and do not open.") from error
        credentials: JsonObject = json.loads(plain)
        return credentials

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        """Return the connected accounts of a service or all, without secrets.

        Each has `service`, `account_name`, `preferred`, and `created_at`, `updated_at` in ISO 8601.
        """
        name = None if service is None else _name(service)
        rows = await self._database.repeat(
            tenant_id,
            "select service, account_name, preferred, created_at, updated_at from credentials"
            " where tenant_id = $1 and ($2::text is null or service = $2) order by service, account_name",
            name,
        )
        return [dict(row) | {name: row[name].isoformat() for name in ("created_at", "updated_at")} for row in rows]

    async def stored(self, tenant_id: str) -> "builtins.list[StoredAccount]":
        """Return all accounts of a person, opened; an account that does not open has no credentials."""
        rows = await self._database.repeat(
            tenant_id,
            # Each with the wrapped key that opens it, from one snapshot.
            "select c.service, c.account_name, c.credentials_json as sealed, d.version, d.secret_key_id, d.wrapped,"
            " c.preferred, c.preferred_for, c.revoked_at is not null as revoked, c.updated_at"
            " from credentials c join data_keys d on d.tenant_id = c.tenant_id and d.version = c.key_version"
            " where c.tenant_id = $1 order by not c.preferred, c.service, c.account_name",
        )
        return [self._opened(tenant_id, row) for row in rows]

    def _opened(self, tenant_id: str, row: asyncpg.Record) -> StoredAccount:
        service, name = row["service"], row["account_name"]
        credentials: JsonObject | None = None
        try:
            key = unwrap_data_key(self._keys, tenant_id, row)
            credentials = json.loads(open_sealed(key, row["sealed"], tenant_id, service, name, row["version"]))
        except (CannotOpen, CredentialsSealed):
            _log.error("credentials_do_not_open", tenant=tenant_id, service=service)
        chosen = frozenset(row["preferred_for"])
        return StoredAccount(service, name, credentials, row["preferred"], chosen, row["revoked"], row["updated_at"])

    async def revoke(self, tenant_id: str, account: StoredAccount) -> None:
        """Record that stored credentials no longer open an account, unless they were replaced since they were read."""
        await self._database.rows(
            "select revoke_account($1,$2,$3,$4,$5)",
            tenant_id,
            account.service,
            account.name,
            account.written_at,
            TELL_AFTER,
        )

    async def delete(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> None:
        await self._database.rows("select delete_credentials($1,$2,$3)", tenant_id, _name(service), _name(account_name))

    async def prefer(self, tenant_id: str, service: str, account_name: str) -> None:
        """Make an account the default of its service; raises if there is no such account."""
        row = await self._database.call(
            "select prefer_account($1,$2,$3) as found", tenant_id, _name(service), _name(account_name)
        )
        if row is None or not row["found"]:
            text = gettext("There is no account {account} of {service}.", account=account_name, service=service)
            raise CredentialError(text)

    async def prefer_for(self, tenant_id: str, service: str, account_name: str, kinds: Sequence[str]) -> bool:
        """Make an account the default for these kinds of things; False if there is no such account."""
        row = await self._database.call(
            "select prefer_account_for($1,$2,$3,$4) as found", tenant_id, service, account_name, list(kinds)
        )
        return bool(row and row["found"])

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        accounts = await self.list(tenant_id, service)
        preferred = [str(account["account_name"]) for account in accounts if account["preferred"]]
        names = tuple(str(account["account_name"]) for account in accounts)
        return ConnectedAccounts(service, names, preferred[0] if preferred else "")

    async def sealed_for(self, connection: Connection, kept: str, gone: str) -> "builtins.list[SealedAccount]":
        """Seal a person's credentials for another person, in a transaction that sees `kept`'s rows afterwards.

        An account whose name is taken gets a number. Raises `CredentialsSealed`.
        """
        await connection.execute("select set_config('onevalet.tenant', $1, true)", gone)
        theirs = await connection.fetch(
            "select c.*, d.secret_key_id, d.wrapped, d.version from credentials c join data_keys d"
            " on d.tenant_id = c.tenant_id and d.version = c.key_version where c.tenant_id = $1"
            " order by c.service, c.account_name",
            gone,
        )
        await connection.execute("select set_config('onevalet.tenant', $1, true)", kept)
        if not theirs:
            return []
        taken = {
            (row["service"], row["account_name"])
            for row in await connection.fetch(
                "select service, account_name from credentials where tenant_id = $1", kept
            )
        }
        version, key = await self._data_key(kept, connection)
        moved = []
        for row in theirs:
            service, was = row["service"], row["account_name"]
            their_key = unwrap_data_key(self._keys, gone, row)
            try:
                plain = open_sealed(their_key, row["credentials_json"], gone, service, was, row["version"])
            except CannotOpen as error:
                raise CredentialsSealed("Credentials were changed where they are stored and do not open.") from error
            name = _free_name(was, {name for of_service, name in taken if of_service == service})
            taken.add((service, name))
            sealed = seal(key, plain, kept, service, name, version)
            moved.append(SealedAccount.of(row, name, version, sealed))
        return moved

    async def seal_for(
        self, tenant_id: str, plain: bytes, *place: str | int, connection: Connection | None = None
    ) -> tuple[int, bytes]:
        """Seal bytes of another table under the tenant's data key; return the key's version, too.

        With a `connection`, within its transaction, which sees this tenant's rows afterwards.
        """
        version, key = await self._data_key(tenant_id, connection)
        return version, seal(key, plain, tenant_id, *place, version)

    async def open_for(
        self, tenant_id: str, version: int, sealed: bytes, *place: str | int, connection: Connection | None = None
    ) -> bytes:
        """Open bytes that `seal_for` sealed for the same place; raises `CredentialsSealed`."""
        row = await self._key_row(connection, "select * from read_data_key($1,$2)", tenant_id, version)
        if row is None:
            raise CredentialsSealed("The data key that this was sealed under is gone.")
        try:
            return open_sealed(unwrap_data_key(self._keys, tenant_id, row), sealed, tenant_id, *place, version)
        except CannotOpen as error:
            _log.error("sealed_value_does_not_open", tenant=tenant_id)
            raise CredentialsSealed("This was changed where it is stored and does not open.") from error

    async def _key_row(self, connection: Connection | None, statement: str, *args: object) -> asyncpg.Record | None:
        if connection is None:
            return await self._database.call(statement, *args)
        return await connection.fetchrow(statement, *args)

    async def _data_key(self, tenant_id: str, connection: Connection | None = None) -> tuple[int, bytes]:
        """Return the version and the key that a tenant's values are sealed under; the first call creates it."""
        row = await self._key_row(connection, "select * from read_data_key($1,null)", tenant_id)
        if row is None:
            newest = self._keys.newest
            wrapped = wrap(newest, make_data_key(), tenant_id, 1)
            row = await self._key_row(connection, "select * from add_data_key($1,$2,$3)", tenant_id, newest.id, wrapped)
        if row is None:
            raise CredentialError(f"There is no tenant {tenant_id}.")
        return row["version"], unwrap_data_key(self._keys, tenant_id, row)


@dataclass(frozen=True, slots=True)
class TenantCredentials:
    """The credentials of a single tenant. Implements `core.tools.context.CredentialAccess`.

    Every call names the tenant, as calls of the store do; another tenant is refused. Errors are
    `core.errors.ToolFailed`.
    """

    store: CredentialStore
    tenant_id: str

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = PRIMARY) -> None:
        with self._guarded(tenant_id):
            await self.store.save(tenant_id, service, credentials, account_name)

    async def get(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> JsonObject | None:
        with self._guarded(tenant_id):
            return await self.store.get(tenant_id, service, account_name)

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        with self._guarded(tenant_id):
            return await self.store.list(tenant_id, service)

    async def delete(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> None:
        with self._guarded(tenant_id):
            await self.store.delete(tenant_id, service, account_name)

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        with self._guarded(tenant_id):
            return await self.store.accounts(tenant_id, service)

    async def prefer(self, tenant_id: str, service: str, account_name: str) -> None:
        with self._guarded(tenant_id):
            await self.store.prefer(tenant_id, service, account_name)

    @contextmanager
    def _guarded(self, tenant_id: str) -> Iterator[None]:
        if tenant_id != self.tenant_id:
            _log.error("credentials_of_another_tenant_asked_for", tenant=self.tenant_id, asked=tenant_id)
            raise ToolFailed("Only this person's own credentials can be used.")
        try:
            yield
        except CredentialsSealed as error:
            raise ToolFailed(gettext("The stored data of this service cannot be read at the moment.")) from error
        except CredentialError as error:
            raise ToolFailed(str(error)) from error


def unwrap_data_key(keys: SecretKeys, tenant_id: str, row: asyncpg.Record) -> bytes:
    """Unwrap the key in a row of `data_keys`; raises `CredentialsSealed` if none of our keys can."""
    secret_key = keys.find(row["secret_key_id"])
    if secret_key is None:
        _log.error("secret_key_is_missing", tenant=tenant_id, secret_key=row["secret_key_id"])
        raise CredentialsSealed("The secret key that these credentials are kept under is not in ONEVALET_SECRET_KEYS.")
    try:
        return unwrap(secret_key, row["wrapped"], tenant_id, row["version"])
    except CannotOpen as error:
        _log.error("data_key_does_not_open", tenant=tenant_id)
        raise CredentialsSealed("This person's data key was changed where it is stored and does not open.") from error


def _free_name(name: str, taken: set[str]) -> str:
    """Return the name, or the first of `name 2`, `name 3` … that is free."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name[: MAX_NAME - 8]} {number}"
    return free


def _name(name: str) -> str:
    """Return the name of a service or an account; raises `CredentialError` if it cannot be stored."""
    if not 1 <= len(name) <= MAX_NAME or storable(name) != name:
        raise CredentialError(f"The name of a service or an account has 1 to {MAX_NAME} characters.")
    return name
