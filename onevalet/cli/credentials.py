"""`credentials set|list|delete` and `keys rotate`: the operator's access to people's connected accounts."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.credentials.secret_keys import SecretKeys
from core.credentials.store import CredentialError, CredentialStore
from core.db.database import Database
from core.errors import ConfigError
from core.json_types import JsonObject
from core.language.counted import counted
from onevalet.cli.credential_forms import check_credentials
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import one_tenant, open_database, system_keys
from onevalet.settings import Settings
from operations.keys.rotation import rotate_keys


async def set_credentials(settings: Settings, tenant: str, service: str, account: str) -> None:
    """Store one JSON object from standard input as an account's credentials."""
    async with _opened(settings) as (database, keys):
        tenant = await _tenant(database, tenant)
        given = _read_object()
        check_credentials(service, given)
        await CredentialStore(database, keys).save(tenant, service, given, account)
    say(f"Kept: {service}, account {account}, of {tenant}.")


async def print_credentials(settings: Settings, tenant: str, service: str, *, as_json: bool) -> None:
    """List the accounts of a person, without secrets."""
    async with _opened(settings) as (database, keys):
        tenant = await _tenant(database, tenant)
        listed = await CredentialStore(database, keys).list(tenant, service or None)
    if as_json:
        say_json(listed)
        return
    for account in listed:
        preferred = "  preferred" if account["preferred"] else ""
        since = f"since {str(account['updated_at'])[:19]} UTC"
        say(f"{account['service']:<20} {account['account_name']:<20} {since}{preferred}")
    if not listed:
        say(f"{tenant} has connected nothing of this kind." if service else f"{tenant} has connected nothing.")


async def delete_credentials(settings: Settings, tenant: str, service: str, account: str) -> None:
    """Delete an account's credentials; raise `ConfigError` when there is no such account."""
    async with _opened(settings) as (database, keys):
        tenant = await _tenant(database, tenant)
        store = CredentialStore(database, keys)
        if account not in (await store.accounts(tenant, service)).names:
            raise ConfigError(f"{tenant} has no account {account} of {service}.")
        await store.delete(tenant, service, account)
    say(f"Forgotten: {service}, account {account}, of {tenant}.")


async def rotate(settings: Settings, *, as_json: bool) -> bool:
    """Wrap every data key with the newest secret key; return False if some could not be opened."""
    async with _opened(settings) as (database, keys):
        done = await rotate_keys(database, keys)
        newest = keys.newest.id
    if as_json:
        say(json.dumps({"secret_key": newest, "rewrapped": done.rewrapped, "unopened": done.unopened}))
        return not done.unopened
    say(f"Now under the newest secret key ({newest}): {counted(done.rewrapped, 'data key')}.")
    if done.unopened:
        say(f"{done.unopened} do not open: add the key they lie under to ONEVALET_SECRET_KEYS, and rotate again.")
    else:
        say("None lies under another: the older keys may be removed.")
    return not done.unopened


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[Database, SecretKeys]]:
    async with open_database(settings, "credentials", refusals=(CredentialError,)) as database:
        yield database, system_keys(settings)


async def _tenant(database: Database, tenant: str) -> str:
    return await one_tenant(
        database,
        tenant,
        nobody="Nobody is here yet: credentials belong to a person who has written.",
        several="There are several people here: say whose with --tenant.",
    )


def _read_object() -> JsonObject:
    if sys.stdin.isatty():
        sys.stderr.write("Paste the credentials as one JSON object, then Ctrl-D.\n")
    try:
        read = json.loads(sys.stdin.buffer.read())
    except (ValueError, RecursionError) as error:  # not quoted: its message may repeat the secret
        raise ConfigError("Standard input must hold the credentials as one JSON object, and is not JSON.") from error
    if not isinstance(read, dict):
        raise ConfigError("Standard input must hold the credentials as one JSON object.")
    return read
