"""The settings of people's files: their storage and lifetime, and the model for pictures."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode

from core.errors import ConfigError


def _origin(value: str) -> str:
    if value and not value.startswith(("https://", "http://")):
        raise ValueError("must start with https:// or http://")
    return value.rstrip("/")


def without_login(url: str) -> str:
    """Return a URL without its user and password."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _region(endpoint: str) -> str:
    """Return the region in the name of a service's host, as in `s3.eu-central-1.amazonaws.com`."""
    named = re.match(r"s3[.-](?:dualstack\.)?([a-z0-9-]+)(?:\.[a-z0-9-]+){2}", urlsplit(endpoint).hostname or "")
    return named[1] if named else "us-east-1"


_BUCKET = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_./-]*)?(\?region=[a-z0-9-]+)?"


type Origin = Annotated[str, AfterValidator(_origin)]


def _countries(value: object) -> object:
    if not isinstance(value, str):
        return value
    codes = tuple(code.strip().upper() for code in value.split(",") if code.strip() and value.lower() != "none")
    if any(not re.fullmatch("[A-Z]{2}", code) for code in codes):
        raise ValueError("must be countries of two letters, such as US,CA, or the word none")
    return codes


type Countries = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_countries)]


class FileSettings(BaseSettings):
    """The settings of files."""

    onevalet_files: str = ""
    onevalet_files_endpoint: Origin = ""
    onevalet_files_key: SecretStr | None = None
    onevalet_files_secret: SecretStr | None = None
    onevalet_files_days: int = Field(default=30, ge=1, le=36500)
    onevalet_files_all_mb: int = Field(default=10_240, ge=50)
    onevalet_mms_countries: Countries = ("US", "CA")
    onevalet_vision_model: str = ""

    @property
    def bucket(self) -> tuple[str, str, str]:
        """Return the bucket's name, its prefix, and the region that requests are signed for."""
        whole, _, region = self.onevalet_files.removeprefix("s3://").partition("?region=")
        name, _, prefix = whole.partition("/")
        return name, prefix, region or _region(self.onevalet_files_endpoint)


def check_files(settings: FileSettings) -> None:
    """Raise an error for an incomplete bucket."""
    place = settings.onevalet_files
    if "://" in place and not re.fullmatch(_BUCKET, place):
        raise ConfigError(
            "ONEVALET_FILES cannot be used: give a folder, s3://bucket or s3://bucket/prefix, or add ?region=name."
        )
    named = {
        "ONEVALET_FILES_ENDPOINT": settings.onevalet_files_endpoint,
        "ONEVALET_FILES_KEY": settings.onevalet_files_key,
        "ONEVALET_FILES_SECRET": settings.onevalet_files_secret,
    }
    missing = [name for name, value in named.items() if not value]
    if place.startswith("s3://") and missing:
        raise ConfigError(f"ONEVALET_FILES={place} needs {' and '.join(missing)}.")
