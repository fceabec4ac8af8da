"""Exporting, deleting and importing people: what the command line, `web` and a worker do it with."""

from datetime import timedelta

from core.accounts.accounts import Accounts
from core.clock import Clock
from core.db.database import Database
from core.files.access import Files
from core.files.store import FileStore
from core.ids import make_id
from core.tenants.access import PersonData
from core.tenants.deletion import Deletion
from core.tenants.export import Exporter
from core.tenants.importing import Importer
from core.tenants.links import ExportLinks
from jobs.periodic import Periodic
from onevalet import __version__
from onevalet.settings import Settings


def build_exporter(database: Database, files: FileStore, clock: Clock, accounts: Accounts | None) -> Exporter:
    """Create what makes archives of people."""
    return Exporter(database, files.blobs, clock, __version__, accounts)


def build_deletion(database: Database, files: FileStore, clock: Clock, accounts: Accounts | None) -> Deletion:
    """Create what deletes people."""
    return Deletion(database, files, clock, accounts)


def deletion_chore(database: Database, files: FileStore, clock: Clock, accounts: Accounts | None) -> Periodic:
    """Return the work that deletes those who asked for it, and ends what others had begun."""
    return Periodic("deletions", timedelta(minutes=1), build_deletion(database, files, clock, accounts).drain)


def build_person_data(
    settings: Settings, database: Database, files: Files, clock: Clock, accounts: Accounts
) -> PersonData:
    """Create what people do with all their data from a chat."""
    links = ExportLinks(database, settings.public_url)
    return PersonData(links, build_deletion(database, files.intake.store, clock, accounts), clock)


def build_importer(database: Database, files: FileStore) -> Importer:
    """Create what takes archives in."""
    return Importer(database, files.blobs, make_id)
