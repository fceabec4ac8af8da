"""The settings of backups: their folder and number, and the login that may read every row."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from core.db.addresses import for_primary


def _check_owner(url: SecretStr | None) -> SecretStr | None:
    if url is None:
        return None
    try:
        text = for_primary(url.get_secret_value())
    except ValueError as error:
        raise ValueError("must be an address such as postgresql://owner:password@host/name") from error
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("must be an address such as postgresql://owner:password@host/name")
    return SecretStr(text)


class BackupSettings(BaseSettings):
    """The settings of backups."""

    onevalet_backups: Path | None = None
    onevalet_backups_kept: int = Field(default=7, ge=1, le=10_000)
    onevalet_backup_database_url: Annotated[SecretStr | None, AfterValidator(_check_owner)] = None
