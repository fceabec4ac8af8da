"""The checks of each channel at its provider."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from core.messaging.channels import Channel, Check
from onevalet.wiring.channels import build_channels
from onevalet.wiring.no_sink import NoSink
from operations.doctor.types import Installation

SECONDS = 45.0
"""Time limit of a channel; the others are reported without it."""


async def check_channels(installation: Installation) -> Sequence[Check]:
    """Check the provider's side of every active channel, at the same time."""
    settings = installation.settings
    channels = build_channels(settings, NoSink(), installation.database)
    if not channels:
        return [Check("channels", False, "none is on: nobody can write to the assistant", "run `init`: it sets one up")]
    found = await asyncio.gather(*(_look(channel) for channel in channels))
    return [Check("sms", True, "on" if settings.sms_on else "off"), *(check for checks in found for check in checks)]


async def _look(channel: Channel) -> list[Check]:
    try:
        async with asyncio.timeout(SECONDS):
            return [replace(check, what=f"{channel.name}: {check.what}") for check in await channel.check()]
    except TimeoutError as error:
        fix = "see whether its provider can be reached"
        return [Check.failed(channel.name, error, f"no answer within {SECONDS:g} s", fix)]
    finally:
        await channel.stop()
