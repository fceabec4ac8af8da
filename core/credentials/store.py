"""People's credentials for other services: sealed per tenant, kept in Postgres.

Each tenant has a data key of its own, wrapped under the operator's newest secret key. What is stored opens
only for the tenant, service, account and version of the data key that it was sealed for.
"""

import base64
import builtins
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import asyncpg
import structlog

from core.credentials.encryption import CannotOpen, make_data_key, open_sealed, seal, unwrap, wrap
from core.credentials.secret_keys import SecretKeys
from core.credentials.types import ConnectedAccounts
from core.db.database import Connection, Database, fetch_one
from core.errors import OneValetError, ToolFailed
from core.json_types import JsonObject, storable

PRIMARY = "primary"
MAX_NAME = 200
"""Characters of a service's name, and of an account's."""
MAX_BYTES = 64 * 1024
"""Bytes of one account's credentials, as JSON."""

_log = structlog.get_logger()


class CredentialError(OneValetError):
    """Credentials cannot be kept or read; the message is one plain sentence without secrets."""


class CredentialsSealed(CredentialError):
    """Credentials do not open: a secret key is missing, or rows were changed. A matter for the operator."""


@dataclass(frozen=True, slots=True)
class SealedAccount:
    """An account's credentials, sealed for the person whom they go to."""

    service: str
    account_name: str
    key_version: int
    sealed: bytes
    preferred: bool
    created_at: datetime
    was: str
    """The account's name with the person whom they come from."""

    def to_json(self) -> JsonObject:
        """Write it down for the function that moves it."""
        return {
            "service": self.service,
            "account_name": self.account_name,
            "key_version": self.key_version,
            "sealed": base64.b64encode(self.sealed).decode(),
            "preferred": self.preferred,
            "created_at": self.created_at.isoformat(),
            "was": self.was,
        }


class CredentialStore:
    """Save, get, list and delete the credentials of all tenants. What is inside is the service's own matter."""

    def __init__(self, database: Database, keys: SecretKeys) -> None:
        self._database = database
        self._keys = keys

    def for_tenant(self, tenant_id: str) -> "TenantCredentials":
        """Return access to this tenant's credentials only."""
        return TenantCredentials(self, tenant_id)

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = PRIMARY) -> None:
        """Keep an account's credentials, in place of what was there."""
        service, account_name = _name(service), _name(account_name)
        plain = json.dumps(credentials).encode()
        if len(plain) > MAX_BYTES:
            raise CredentialError(f"Credentials of one account have at most {MAX_BYTES // 1024} KiB.")
        version, key = await self._own_data_key(tenant_id)
        sealed = seal(key, plain, tenant_id, service, account_name, version)
        await self._database.rows(
            "select save_credentials($1,$2,$3,$4,$5)", tenant_id, service, account_name, version, sealed
        )

    async def get(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> JsonObject | None:
        """Return an account's credentials, or None when there are none. Raises `CredentialError`."""
        service, account_name = _name(service), _name(account_name)
        row = await self._database.call("select * from read_credentials($1,$2,$3)", tenant_id, service, account_name)
        if row is None:
            return None
        key = self._unwrap(tenant_id, row)
        try:
            plain = open_sealed(key, row["sealed"], tenant_id, service, account_name, row["version"])
        except CannotOpen as error:
            _log.error("credentials_do_not_open", tenant=tenant_id, service=service)
            raise CredentialsSealed("These credentials were changed where they are stored and do not open.") from error
        found: JsonObject = json.loads(plain)
        return found

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        """List the accounts that are connected, of one service or all, without what is secret.

        Each has `service`, `account_name`, `preferred`, and `created_at`, `updated_at` in ISO 8601.
        """
        name = None if service is None else _name(service)
        rows = await self._database.rows("select * from list_credentials($1,$2)", tenant_id, name)
        return [
            {
                "service": row["service"],
                "account_name": row["account_name"],
                "preferred": row["preferred"],
                "created_at": row["created_at"].isoformat(),
                "updated_at": row["updated_at"].isoformat(),
            }
            for row in rows
        ]

    async def delete(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> None:
        """Forget an account's credentials, if there are any."""
        await self._database.rows("select delete_credentials($1,$2,$3)", tenant_id, _name(service), _name(account_name))

    async def prefer(self, tenant_id: str, service: str, account_name: str) -> None:
        """Remember which account of a service is meant when none is named; raises when there is no such one."""
        row = await self._database.call(
            "select prefer_account($1,$2,$3) as found", tenant_id, _name(service), _name(account_name)
        )
        if row is None or not row["found"]:
            raise CredentialError(f"There is no account {account_name} of {service}.")

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        """Return which accounts of a service are connected, and which is meant when none is named."""
        listed = await self.list(tenant_id, service)
        preferred = [str(one["account_name"]) for one in listed if one["preferred"]]
        return ConnectedAccounts(
            service, tuple(str(one["account_name"]) for one in listed), preferred[0] if preferred else ""
        )

    async def sealed_for(self, connection: Connection, kept: str, gone: str) -> "builtins.list[SealedAccount]":
        """Seal one person's credentials anew for another, inside a transaction that leaves `kept`'s rows in sight.

        An account whose name is taken there gets a number behind it. Raises `CredentialsSealed`.
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
        row = await connection.fetchrow("select * from read_data_key($1,null)", kept)
        if row is None:
            wrapped = wrap(self._keys.newest, make_data_key(), kept, 1)
            row = await fetch_one(
                connection, "select * from add_data_key($1,$2,$3)", kept, self._keys.newest.id, wrapped
            )
        key = self._unwrap(kept, row)
        moved = []
        for one in theirs:
            try:
                plain = open_sealed(
                    self._unwrap(gone, one), one["credentials_json"], gone, one["service"], one["account_name"],
                    one["version"],
                )  # fmt: skip
            except CannotOpen as error:
                raise CredentialsSealed("Credentials were changed where they are stored and do not open.") from error
            name = _free_name(one["account_name"], {name for service, name in taken if service == one["service"]})
            taken.add((one["service"], name))
            sealed = seal(key, plain, kept, one["service"], name, row["version"])
            was, preferred, created_at = one["account_name"], one["preferred"], one["created_at"]
            moved.append(SealedAccount(one["service"], name, row["version"], sealed, preferred, created_at, was))
        return moved

    async def seal_for(
        self, tenant_id: str, plain: bytes, *place: str | int, connection: Connection | None = None
    ) -> tuple[int, bytes]:
        """Seal bytes of another table under the tenant's data key; return the key's version, too.

        With a `connection` within its transaction, which sees this tenant's rows from then on.
        """
        row = await self._key_row(connection, "select * from read_data_key($1,null)", tenant_id)
        if row is None:
            newest = self._keys.newest
            wrapped = wrap(newest, make_data_key(), tenant_id, 1)
            row = await self._key_row(connection, "select * from add_data_key($1,$2,$3)", tenant_id, newest.id, wrapped)
        if row is None:
            raise CredentialError(f"There is no tenant {tenant_id}.")
        return row["version"], seal(self._unwrap(tenant_id, row), plain, tenant_id, *place, row["version"])

    async def open_for(
        self, tenant_id: str, version: int, sealed: bytes, *place: str | int, connection: Connection | None = None
    ) -> bytes:
        """Open what `seal_for` gave for the same place; raises `CredentialsSealed`."""
        row = await self._key_row(connection, "select * from read_data_key($1,$2)", tenant_id, version)
        if row is None:
            raise CredentialsSealed("The data key that this was sealed under is gone.")
        try:
            return open_sealed(self._unwrap(tenant_id, row), sealed, tenant_id, *place, version)
        except CannotOpen as error:
            _log.error("sealed_value_does_not_open", tenant=tenant_id)
            raise CredentialsSealed("This was changed where it is stored and does not open.") from error

    async def _key_row(self, connection: Connection | None, statement: str, *args: object) -> asyncpg.Record | None:
        if connection is None:
            return await self._database.call(statement, *args)
        return await connection.fetchrow(statement, *args)

    async def _own_data_key(self, tenant_id: str) -> tuple[int, bytes]:
        row = await self._database.call("select * from read_data_key($1,null)", tenant_id)
        if row is None:
            newest = self._keys.newest
            wrapped = wrap(newest, make_data_key(), tenant_id, 1)
            row = await self._database.call("select * from add_data_key($1,$2,$3)", tenant_id, newest.id, wrapped)
        if row is None:
            raise CredentialError(f"There is no tenant {tenant_id}.")
        return row["version"], self._unwrap(tenant_id, row)

    def _unwrap(self, tenant_id: str, row: asyncpg.Record) -> bytes:
        return unwrap_data_key(self._keys, tenant_id, row)


@dataclass(frozen=True, slots=True)
class TenantCredentials:
    """The credentials of one tenant. Implements `core.tools.context.CredentialAccess`.

    Every call names the tenant, as it would to the store; any other than this one is refused. What goes wrong
    is `core.errors.ToolFailed`.
    """

    store: CredentialStore
    tenant_id: str

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = PRIMARY) -> None:
        """Keep an account's credentials, in place of what was there: a refreshed token, for one."""
        with self._guarded(tenant_id):
            await self.store.save(tenant_id, service, credentials, account_name)

    async def get(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> JsonObject | None:
        """Return an account's credentials, or None when this person has not connected it."""
        with self._guarded(tenant_id):
            return await self.store.get(tenant_id, service, account_name)

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        """List the accounts that are connected, without what is secret."""
        with self._guarded(tenant_id):
            return await self.store.list(tenant_id, service)

    async def delete(self, tenant_id: str, service: str, account_name: str = PRIMARY) -> None:
        """Forget an account's credentials, if there are any."""
        with self._guarded(tenant_id):
            await self.store.delete(tenant_id, service, account_name)

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        """Return which accounts of a service are connected, and which is meant when none is named."""
        with self._guarded(tenant_id):
            return await self.store.accounts(tenant_id, service)

    async def prefer(self, tenant_id: str, service: str, account_name: str) -> None:
        """Remember which account of a service is meant when none is named."""
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
            raise ToolFailed("What is stored for this service cannot be read at the moment.") from error
        except CredentialError as error:
            raise ToolFailed(str(error)) from error


def unwrap_data_key(keys: SecretKeys, tenant_id: str, row: asyncpg.Record) -> bytes:
    """Open a row of `data_keys`; raises `CredentialsSealed` where none of the keys does."""
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
    """Check the name of a service or an account before Postgres refuses it."""
    if not 1 <= len(name) <= MAX_NAME or storable(name) != name:
        raise CredentialError(f"The name of a service or an account has 1 to {MAX_NAME} characters.")
    return name
