"""`channels setup`: set webhooks, commands and the like at the providers, and list the remaining manual steps."""

from dataclasses import asdict

from core.errors import ConfigError, OneValetError
from core.messaging.channels import Change
from onevalet.cli.runner import say, say_json
from onevalet.settings import Settings
from onevalet.wiring.channels import build_channels
from onevalet.wiring.no_sink import NoSink
from operations.doctor.repair import set_up_one


async def set_up_channels(settings: Settings, *, as_json: bool) -> bool:
    """Set up every channel that is on and print the changes; return False when a provider could not be reached."""
    channels = build_channels(settings, NoSink())
    if not channels:
        raise ConfigError("No channel is on: set the values of one, as .env.example shows, then run this again.")
    reached = True
    changes: dict[str, list[Change]] = {}
    for channel in channels:
        try:
            changes[channel.name] = await set_up_one(channel)
        except ConfigError:
            raise
        except OneValetError as error:
            reached = False
            changes[channel.name] = [Change("not set up", "", f"{type(error).__name__}: {error}")]
    if as_json:
        shown = {name: [asdict(change) for change in listed] for name, listed in changes.items()}
        say_json(shown)
    else:
        say("\n".join(_line(name, change) for name, listed in changes.items() for change in listed))
    return reached


def _line(name: str, change: Change) -> str:
    if change.before == change.after:
        return f"{name:<10}{change.what}: {change.after} (as it was)"
    return f"{name:<10}{change.what}: {change.before or '(nothing)'} -> {change.after}"
