"""Web API methods, and the reading of their arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.simulator.journal import Json
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.shapes import Obj, decoded, text
from workbench.simulator.slack.state import Channel, Message, World

if TYPE_CHECKING:
    from workbench.simulator.slack.deliver import Deliverer


@dataclass(frozen=True, slots=True)
class Hub:
    """The dependencies of the methods."""

    world: World
    deliverer: "Deliverer"
    url: Callable[[], str]


type Run = Callable[[Hub, Obj], Obj]


@dataclass(frozen=True, slots=True)
class Method:
    """A method's rules, from its page: scopes (any of them), needed arguments, whether JSON is read.

    `post_only` tells that a GET is refused; `app_token` that it wants the app-level token.
    """

    run: Run
    scopes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    json: bool = True
    post_only: bool = False
    app_token: bool = False


def check_needed(method: Method, arguments: Obj) -> None:
    """Refuse a call that lacks an argument: apis/web-api, error invalid_arguments."""
    missing = [name for name in method.needs if arguments.get(name) in (None, "")]
    if missing:
        raise Refusal("invalid_arguments", [f"missing required field: {name} [json-pointer:/]" for name in missing])


def truth(value: Json) -> bool:
    """Read a boolean as forms and JSON carry it."""
    return value is True or value in (1, "1", "true", "True")


def whole(arguments: Obj, name: str, default: int, most: int) -> int:
    """Read a number of items: 1 to `most`."""
    value = arguments.get(name)
    if value in (None, ""):
        return default
    try:
        number = int(str(value))
    except ValueError:
        raise Refusal("invalid_arguments", [f"must be an integer [json-pointer:/{name}]"]) from None
    if not 1 <= number <= most:
        raise Refusal("invalid_limit")
    return number


def listed(arguments: Obj, name: str) -> list[Json]:
    """Read a list, which forms carry as JSON text; an absent list is empty."""
    try:
        value = decoded(arguments.get(name) or [])
    except ValueError:
        value = None
    if not isinstance(value, list):
        raise Refusal("invalid_arguments", [f"must be an array [json-pointer:/{name}]"])
    return value


def find_channel(hub: Hub, arguments: Obj, key: str = "channel", *, by_user: bool = False) -> Channel:
    """Find the channel that a call is about; only posting may name a person instead."""
    name = text(arguments.get(key))
    channel = hub.world.channel(name) if by_user else hub.world.channels.get(name)
    if channel is None:
        raise Refusal("channel_not_found")
    return channel


def find_root(channel: Channel, thread_ts: str) -> str:
    """Check a thread_ts: it names an existing message that is itself no reply.

    Slack's page of chat.postMessage says to use the parent's value and never a reply's; the effect of a reply's value
    is undefined there, so it is refused here (cannot_reply_to_message).
    """
    if not thread_ts:
        return ""
    root = channel.messages.get(thread_ts)
    if root is None:
        raise Refusal("thread_not_found")
    if root.thread_ts:
        raise Refusal("cannot_reply_to_message")
    return thread_ts


def find_own_message(hub: Hub, arguments: Obj, otherwise: str) -> tuple[Channel, Message]:
    """Return the app's own message that a call is about; `otherwise` refuses another author's message."""
    channel = find_channel(hub, arguments)
    message = find_message(channel, text(arguments.get("ts")))
    if message.bot_id != hub.world.config.slack.bot_id:
        raise Refusal(otherwise)
    return channel, message


def find_message(channel: Channel, ts: str) -> Message:
    message = channel.messages.get(ts)
    if message is None:
        raise Refusal("message_not_found")
    return message
