"""The switches of the emulated team, set by name."""

from workbench.simulator.base import BadAction
from workbench.simulator.config import Person
from workbench.simulator.slack.method import Hub
from workbench.simulator.slack.shapes import Obj, items, text

_TOKEN_STATES = ("ok", "invalid_auth", "account_inactive", "token_revoked", "token_expired")
_FLAGS = ("strict_rate", "own_events", "messages_tab")
_LISTS = ("scopes", "commands")


async def set_switches(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Set any of: token, scopes, commands, strict_rate, own_events, messages_tab, socket_dead, disabled.

    `token` is ok or the error that every call gets; `socket_dead` makes the present sockets silent;
    `disabled` deactivates the person.
    """
    for name, value in arguments.items():
        if name == "token" and value in _TOKEN_STATES:
            hub.world.switches.token = text(value)
        elif name in _FLAGS and isinstance(value, bool):
            setattr(hub.world.switches, name, value)
        elif name in _LISTS and isinstance(value, list):
            setattr(hub.world.switches, name, tuple(text(item) for item in items(value)))
        elif name == "socket_dead" and isinstance(value, bool):
            hub.deliverer.sockets.freeze(value)
        elif name == "disabled" and isinstance(value, bool):
            change = hub.world.disabled.add if value else hub.world.disabled.discard
            change(person.slack_user)
        else:
            raise BadAction(f'There is no switch "{name}" with such a value.')
    return {"ok": True}
