"""The store of people's files, and the links to them. Light: `web` opens it, too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.files.blobs import BlobStore, FolderStore
from core.files.links import FileLinks
from core.files.store import FileLimits, FileStore
from onevalet.settings import Settings
from providers.s3.bucket import Bucket, S3Store

_MEGABYTE = 1024 * 1024
_PEOPLE = 50
"""People who fill the store together if each has as much as one person may have."""


@asynccontextmanager
async def open_file_store(settings: Settings, database: Database) -> AsyncIterator[FileStore]:
    """Yield the store of people's files."""
    blobs = build_blobs(settings)
    try:
        yield FileStore(database, blobs, file_limits(settings))
    finally:
        await blobs.close()


def build_links(settings: Settings, keys: SecretKeys) -> FileLinks | None:
    """Return the links to people's files; None without PUBLIC_URL."""
    if not settings.public_url:
        return None
    return FileLinks.of(keys, settings.public_url)


def build_blobs(settings: Settings) -> BlobStore:
    """Create the store of bytes that the settings name."""
    place = settings.onevalet_files
    if not place.startswith("s3://"):
        return FolderStore(Path(place) if place else settings.onevalet_home / "files")
    name, prefix, region = settings.bucket
    key, secret = settings.onevalet_files_key, settings.onevalet_files_secret
    return S3Store(
        Bucket(
            endpoint=settings.onevalet_files_endpoint,
            name=name,
            region=region,
            access_key=key.get_secret_value() if key else "",
            secret_key=secret.get_secret_value() if secret else "",
            prefix=f"{prefix.strip('/')}/" if prefix.strip("/") else "",
        )
    )


def file_limits(settings: Settings) -> FileLimits:
    """Return the limits on people's files."""
    everybody = settings.onevalet_files_all_mb * _MEGABYTE
    return FileLimits(
        person=everybody // _PEOPLE,
        everybody=everybody,
        kept=timedelta(days=settings.onevalet_files_days),
    )
