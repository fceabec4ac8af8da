"""Channels that plugins bring, from the modules in ONEVALET_CHANNELS; the web process imports no other plugin."""

from collections.abc import Sequence

from core.clock import Clock
from core.errors import ConfigError
from core.messaging.channels import InboundSink
from onevalet.own_channels import ChannelSetup, InboundChannel, OutboundChannel
from onevalet.relay import Relay
from onevalet.settings import Settings
from onevalet.wiring.plugin_checks import check_methods, check_overridden, made_of, only_kinds
from onevalet.wiring.plugins import plugin_values

TAKEN = frozenset({"sms", "slack", "telegram", "email", "terminal", "push", "program", "web", "mcp", "archive"})


def own_ways_in(settings: Settings, sink: InboundSink) -> list[InboundChannel]:
    """Create the ways in of plugins."""
    setup = _setup(settings)
    return [made_of(kind, setup, sink) for kind in _kinds(settings.onevalet_channels, InboundChannel)]


def own_ways_out(settings: Settings) -> list[OutboundChannel]:
    """Create the ways out of plugins."""
    setup = _setup(settings)
    return [made_of(kind, setup) for kind in _kinds(settings.onevalet_channels, OutboundChannel)]


def own_names(settings: Settings) -> set[str]:
    """Return the names of the ways out of plugins."""
    return {kind.name for kind in _kinds(settings.onevalet_channels, OutboundChannel)}


def only_sending(settings: Settings) -> set[str]:
    """Return the names of plugins' outbound channels that receive no messages."""
    modules = settings.onevalet_channels
    return own_names(settings) - {kind.name for kind in _kinds(modules, InboundChannel)} if modules else set()


def _setup(settings: Settings) -> ChannelSetup:
    redis = settings.redis_url.get_secret_value() if settings.redis_url else ""
    return ChannelSetup(Clock(settings.onevalet_clock), Relay(redis))


def _kinds[Kind: (InboundChannel, OutboundChannel)](modules: Sequence[str], base: type[Kind]) -> list[type[Kind]]:
    """Return the subclasses that the modules define; raise `ConfigError` for a name that is missing or taken."""
    kinds: list[type[Kind]] = only_kinds(plugin_values(modules), base)
    names = [kind.name for kind in kinds]
    for kind in kinds:
        if not kind.name or kind.name in TAKEN or names.count(kind.name) > 1:
            reason = f"the name {kind.name!r} is another's" if kind.name else "it has no name"
            raise ConfigError(f"The channel {kind.__module__}.{kind.__qualname__} cannot be used: {reason}.")
        check_methods(kind, base)
        if base is OutboundChannel:
            check_overridden(kind, base, "send")
    return kinds
