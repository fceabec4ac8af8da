"""Exporting, deleting and importing people, for the command line, `web` and a worker."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

from core.clock import Clock
from core.credentials.secret_keys import SecretKeys
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.files.access import Files
from core.files.store import FileStore
from core.ids import make_id
from core.messaging.channels import NotificationChannel
from core.tools.account_access import PeoplesAccounts
from jobs.later.cron import Chore
from onevalet import __version__
from onevalet.settings import Settings
from onevalet.wiring.channels import build_notification_channels
from operations.tenants.access import PersonData
from operations.tenants.copies import CopyEraser, Erasing
from operations.tenants.deletion import Deletion
from operations.tenants.export import Exporter
from operations.tenants.importing import Importer
from operations.tenants.links import ExportLinks


def build_exporter(
    database: Database,
    files: FileStore,
    clock: Clock,
    credentials: CredentialStore,
    accounts: PeoplesAccounts | None,
) -> Exporter:
    """Create the exporter of people's archives."""
    return Exporter(database, files.blobs, clock, __version__, credentials, accounts)


def build_deletion(
    database: Database,
    files: FileStore,
    clock: Clock,
    accounts: PeoplesAccounts | None,
    channels: Mapping[str, NotificationChannel] | None = None,
) -> Deletion:
    """Create the deletion of people. Without `channels` it only takes requests: messages at providers would stay."""
    erasing = {name: channel for name, channel in (channels or {}).items() if isinstance(channel, Erasing)}
    return Deletion(database, files, clock, accounts, CopyEraser(database, erasing) if erasing else None)


@asynccontextmanager
async def open_deletion(
    settings: Settings, database: Database, files: FileStore, clock: Clock, accounts: PeoplesAccounts | None
) -> AsyncIterator[Deletion]:
    """Yield the deletion of people, over the channels that are on."""
    channels = build_notification_channels(settings)
    try:
        yield build_deletion(database, files, clock, accounts, channels)
    finally:
        for channel in channels.values():
            await channel.close()


def deletion_chore(deletion: Deletion) -> Chore:
    """Return the chore that carries out requested deletions, and finishes interrupted deletions."""
    return Chore("deletions", timedelta(minutes=1), deletion.drain, for_all=True)


def build_person_data(
    settings: Settings,
    database: Database,
    files: Files,
    clock: Clock,
    keys: SecretKeys,
    accounts: PeoplesAccounts | None,
) -> PersonData:
    """Create the chat commands about all data of a person."""
    links = ExportLinks(database, settings.public_url, keys)
    return PersonData(links, build_deletion(database, files.intake.store, clock, accounts), clock)


def build_importer(database: Database, files: FileStore) -> Importer:
    """Create the importer of archives."""
    return Importer(database, files.blobs, make_id)
