"""The repairs of `doctor --fix`: write our settings to the providers, and report each change."""

import asyncio

from core.errors import OneValetError
from core.messaging.channels import Change, Channel
from onevalet.wiring.channels import build_channels
from onevalet.wiring.no_sink import NoSink
from operations.doctor.types import Area, Finding, Installation, State

SECONDS = 60.0
"""Time limit of a provider."""


async def repair(installation: Installation) -> list[Finding]:
    """Set up every channel that is on; return a finding for each change, and for each that could not be made."""
    channels = build_channels(installation.settings, NoSink(), installation.database)
    done = await asyncio.gather(*(_repair(channel) for channel in channels))
    findings = [finding for found in done for finding in found]
    nothing = Finding(Area.CHANNELS, "fixed", State.GOOD, "nothing: the providers are set as they should be")
    return findings or [nothing]


async def set_up_one(channel: Channel) -> list[Change]:
    """Set a channel up at its provider and stop it; return the changes. Raises `OneValetError`."""
    try:
        await channel.identify()
        return list(await channel.setup())
    finally:
        await channel.stop()


async def _repair(channel: Channel) -> list[Finding]:
    try:
        async with asyncio.timeout(SECONDS):
            changes = await set_up_one(channel)
    except (OneValetError, TimeoutError) as error:
        why = f"no answer within {SECONDS:g} s" if isinstance(error, TimeoutError) else str(error)
        fix = "see the channel's other findings, then run this again"
        return [Finding(Area.CHANNELS, f"{channel.name}: not fixed", State.RED, why, fix)]
    return [
        Finding(
            Area.CHANNELS,
            f"{channel.name}: fixed",
            State.GOOD,
            f"{change.what}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}",
        )
        for change in changes
        if not change.by_hand
    ]
