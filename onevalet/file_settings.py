"""The settings of people's files: their storage and lifetime, and the model for pictures."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode

from core.errors import ConfigError


def _origin(value: str) -> str:
    if value and not value.startswith(("https://", "http://")):
        raise ValueError("must start with https:// or http://")
    return value.rstrip("/")


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
    onevalet_files_region: str = "us-east-1"
    onevalet_files_key: SecretStr | None = None
    onevalet_files_secret: SecretStr | None = None
    onevalet_files_days: int = Field(default=30, ge=1, le=36500)
    onevalet_files_all_mb: int = Field(default=10_240, ge=50)
    onevalet_mms_countries: Countries = ("US", "CA")
    onevalet_vision_model: str = ""


def check_files(settings: FileSettings) -> None:
    """Raise an error for an incomplete bucket."""
    place = settings.onevalet_files
    if "://" in place and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_./-]*)?", place):
        raise ConfigError("ONEVALET_FILES cannot be used: give a folder, or s3://bucket or s3://bucket/prefix.")
    named = {
        "ONEVALET_FILES_ENDPOINT": settings.onevalet_files_endpoint,
        "ONEVALET_FILES_KEY": settings.onevalet_files_key,
        "ONEVALET_FILES_SECRET": settings.onevalet_files_secret,
    }
    missing = [name for name, value in named.items() if not value]
    if place.startswith("s3://") and missing:
        raise ConfigError(f"ONEVALET_FILES={place} needs {' and '.join(missing)}.")
