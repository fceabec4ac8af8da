"""The disks that we write to: room for files, embedded servers and logs."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from core.messaging.channels import Check
from onevalet.settings import Settings

LEAST = 512 * 1024**2
"""Bytes below which it is about to fail."""
LITTLE = 5 * 1024**3


async def check_disk(settings: Settings) -> Sequence[Check]:
    """Check the free space for ONEVALET_HOME, and for files if they are on another disk."""
    folders = [settings.onevalet_home]
    if settings.onevalet_files and "://" not in settings.onevalet_files:
        folders.append(Path(settings.onevalet_files))
    return await asyncio.to_thread(_look, folders)


def _look(folders: Sequence[Path]) -> list[Check]:
    checks, seen = [], set[int]()
    for folder in folders:
        place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
        device = place.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        free, usage = _free(place), shutil.disk_usage(place)
        detail = f"{free / 1024**3:,.1f} of {usage.total / 1024**3:,.0f} GB free at {place}"
        fix = "make room there: files that people send are refused when it is full" if free < LITTLE else ""
        checks.append(Check("disk", free >= LEAST, detail, fix))
    return checks


def _free(place: Path) -> int:
    """Return the bytes that an ordinary user may still write."""
    told = os.statvfs(place)
    return told.f_bavail * told.f_frsize
