"""The commands of receipts: check a file, write one, and show the keys."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO

from abilities.receipts.keys import fingerprint, signing_keys
from abilities.receipts.period import read_days
from abilities.receipts.receipts_file import FileRefused, Head, Verified, verify, written
from abilities.receipts.store import ReceiptReader
from core.clock import Clock, zone_or_utc
from core.errors import ConfigError
from core.language.counted import counted
from onevalet import __version__
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import one_tenant, open_database, system_keys
from onevalet.settings import Settings


def print_verified(path: Path, key: str, *, as_json: bool) -> None:
    """Check a file and print its contents; exit with 1 if it was changed, or if another key signed it."""
    try:
        with path.open("rb") as file:
            verified = verify(file)
        if key and key.strip().lower() != verified.key:
            raise FileRefused(f"Another key signed the file: {verified.key}.")
    except FileRefused as refused:
        if as_json:
            say_json({"good": False, "reason": str(refused)})
        else:
            sys.stderr.write(f"{refused}\n")
        sys.exit(1)
    except OSError as error:
        raise ConfigError(f"The file {path} cannot be read: {error.strerror}.") from error
    if as_json:
        say_json({"good": True, **asdict(verified)})
    else:
        say("\n".join(_told(verified, compared=bool(key))))


def _told(verified: Verified, *, compared: bool) -> list[str]:
    unknown = verified.outcomes["unknown"]
    lines = [
        f"Good: {counted(verified.receipts, 'receipt')} of {verified.person} from {verified.first} to {verified.last},"
        f" written at {verified.made_at}. Nothing was changed, removed or moved since.",
        f"Without a card: {verified.without_card}. With an unknown outcome: {unknown}.",
    ]
    if verified.forgotten:
        lines.append(f"{counted(verified.forgotten, 'card')} held words that were forgotten before this was written.")
    if not compared:
        lines.append("Whoever wrote it has this key; compare it with the one that the operator names:")
    return [*lines, f"Key: {verified.key}"]


async def export(settings: Settings, path: Path, period: str, tenant: str) -> None:
    """Write the receipts of a person into a new file that only its owner can read."""
    key = signing_keys(system_keys(settings))[0]
    async with open_database(settings, "receipts") as database:
        tenant = await one_tenant(database, tenant)
        row = await database.tenant_row(tenant, "select timezone from tenants where tenant_id = $1")
        zone, now = zone_or_utc(row["timezone"] if row else None), Clock().machine_now()
        days = read_days(period, now.astimezone(zone).date())
        if days is None:
            raise ConfigError(
                f"Write the period as a month such as 2026-10, a year, or a number of days, not as {period}."
            )
        reader = ReceiptReader(partial(database.tenant_rows, tenant), zone)
        head = Head(tenant, days, now, __version__)
        try:
            with _new_file(path) as file:
                async for line in written(head, reader.in_order(days), key):
                    file.write(line)
        except OSError as error:
            raise ConfigError(f"The file {path} cannot be written: {error.strerror}.") from error
    say(f"{path} has the receipts of {tenant} from {days.first} to {days.last}. Key: {fingerprint(key.public)}")


async def print_keys(settings: Settings, *, as_json: bool) -> None:
    """Print the keys that sign receipts, the newest first."""
    signing = signing_keys(system_keys(settings))
    keys = [{"fingerprint": fingerprint(key.public), "key": key.public.hex()} for key in signing]
    if as_json:
        say_json(keys)
        return
    for number, key in enumerate(keys):
        say(f"{key['fingerprint']}{'  of an earlier secret key' if number else '  signs now'}")


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that only its owner can read; it goes if the block raises."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        try:
            yield file
        except BaseException:
            path.unlink()
            raise
