"""The types of settings, each with its check, whose message a start prints."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_settings import NoDecode

from core.credentials.secret_keys import read_secret_key
from core.db.addresses import for_primary
from core.db.redis_address import is_sentinels, read_sentinels
from core.messaging.capabilities import read_prices
from core.people.access_policy import parse_listed

_HOST_NAME = re.compile(r"\*|[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]")


def _split(value: object) -> object:
    if isinstance(value, str):
        return tuple(item.strip() for item in value.split(",") if item.strip())
    return value


def _check_keys(keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    for key in keys:
        read_secret_key(key.get_secret_value())
    return keys


def _check_listed(entries: tuple[str, ...]) -> tuple[str, ...]:
    for entry in entries:
        parse_listed(entry)
    return entries


def _check_host_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not _HOST_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no host: give names such as valet.example.com, without a port, or *")
    return names


def _check_database(url: SecretStr | None) -> SecretStr | None:
    try:
        text = for_primary(url.get_secret_value()) if url else ""
        is_good = url is None or urlsplit(text).scheme in ("postgresql", "postgres")
    except ValueError:
        is_good = False
    if not is_good:
        raise ValueError(
            "must be an address such as postgresql://user:password@host/name,"
            " or postgresql://user:password@host1,host2/name?target_session_attrs=primary"
        )
    return SecretStr(text) if url else None


def _check_redis(url: SecretStr | None) -> SecretStr | None:
    text = url.get_secret_value() if url else ""
    try:
        if is_sentinels(text):
            read_sentinels(text)
            is_good = True
        else:
            parts = urlsplit(text)
            is_good = url is None or (parts.scheme in ("redis", "rediss", "unix") and parts.port != 0)
    except ValueError:  # not an address, or its port is not a number
        is_good = False
    if not is_good:
        raise ValueError(
            "must be an address such as redis://host:6379/0, or redis+sentinel://:password@host1,host2,host3/primary/0"
        )
    return url


def _check_collector(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("must be a URL with http or https")
    return value


def _check_prices(entries: tuple[str, ...]) -> tuple[str, ...]:
    read_prices(entries)
    return entries


type Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
type Secrets = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split)]
type SecretKeyTexts = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_keys)]
type Identities = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_listed)]
type HostNames = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_host_names)]
type SegmentPrices = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_prices)]
type DatabaseUrl = Annotated[SecretStr | None, AfterValidator(_check_database)]
type RedisUrl = Annotated[SecretStr | None, AfterValidator(_check_redis)]
type Collector = Annotated[str, AfterValidator(_check_collector)]
