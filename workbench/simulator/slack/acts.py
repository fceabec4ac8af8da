"""Acts of people and tests in Slack, by name, for the control API: POST /sim/slack/<name>."""

from base64 import b64decode
from collections.abc import Awaitable, Callable
from dataclasses import replace

from workbench.simulator.base import BadAction
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.slack import interactions
from workbench.simulator.slack.chat import remove, set_reaction, take_reaction
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.events import (
    home_event,
    membership_event,
    mention_event,
    message_event,
    typed_message,
)
from workbench.simulator.slack.files import file_record
from workbench.simulator.slack.method import Hub
from workbench.simulator.slack.records import message_record, view_record
from workbench.simulator.slack.shapes import Obj, items, obj, text
from workbench.simulator.slack.state import GENERAL, Channel, Message, View, dm_id, make_id
from workbench.simulator.slack.switches import set_switches

_LONGEST_CLIP = 300
"""Seconds that Slack records: slack.com/help, "Record audio and video clips"."""

type Act = Callable[[Hub, Person, Obj], Awaitable[Obj]]


async def say(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Write `text` in the direct conversation, in a thread with `thread_ts`; return the ts.

    `attachments` are shared messages and tables as Slack's client sends them, `blocks` stand for the text's own.
    `files` is a list of {"name", "content"}, text or base64 after "base64:"; with "clip", audio or video, the app has
    recorded it; with "connect" it comes over Slack Connect, which gives only its id. With `doubled` a single gesture
    comes as two events, with different ts and the same client_msg_id, as has been seen of Slack.
    """
    channel = _direct(hub, person)
    message = _typed(hub, channel, person, arguments)
    hub.deliverer.event(message_event(hub.world, message), message.ts, person.slack_user)
    if arguments.get("doubled") is True:
        again = hub.world.add(replace(message, ts=hub.world.next_ts()))
        hub.deliverer.event(message_event(hub.world, again), again.ts, person.slack_user)
    return {"ok": True, "ts": message.ts, "channel": channel.id}


async def mention(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Write to the bot in #general: app_mention and message events with the same ts, as Slack sends both."""
    words = f"<@{hub.world.config.slack.bot_user}> {_needed(arguments, 'text')}"
    message = _typed(hub, hub.world.channels[GENERAL], person, arguments | {"text": words})
    message.text = words
    hub.deliverer.event(mention_event(hub.world, message), message.ts, person.slack_user)
    hub.deliverer.event(message_event(hub.world, message), message.ts, person.slack_user)
    return {"ok": True, "ts": message.ts, "channel": GENERAL}


async def channel_say(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Write `text` in #general, or in a thread by `thread_ts`, `mention`ing the bot. Who writes first created it.

    With `group_dm` it is the group conversation of everybody and the bot, whose mentions come as messages alone.
    """
    if arguments.get("group_dm") is True:
        return await _group_say(hub, person, arguments)
    channel = hub.world.channels[GENERAL]
    channel.creator = channel.creator or person.slack_user
    if arguments.get("mention") is True:
        return await mention(hub, person, arguments)
    message = _typed(hub, channel, person, arguments)
    hub.deliverer.event(message_event(hub.world, message), message.ts, person.slack_user)
    return {"ok": True, "ts": message.ts, "channel": GENERAL}


async def _group_say(hub: Hub, person: Person, arguments: Obj) -> Obj:
    words = _needed(arguments, "text")
    if arguments.get("mention") is True:
        words = f"<@{hub.world.config.slack.bot_user}> {words}"
    message = _typed(hub, hub.world.group_dm(person.slack_user), person, arguments | {"text": words})
    message.text = words
    hub.deliverer.event(message_event(hub.world, message), message.ts, person.slack_user)
    return {"ok": True, "ts": message.ts, "channel": message.channel}


async def channel_open(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Begin #general: who does created it, and lets the bot in."""
    channel = hub.world.channels[GENERAL]
    if channel.creator:
        raise BadAction("The channel is there already.")
    channel.creator = person.slack_user
    return await channel_set(hub, person, {"removed": False})


async def channel_set(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Change #general: its `name`, or whether the bot was `removed`."""
    channel, at = hub.world.channels[GENERAL], hub.world.next_ts()
    if name := text(arguments.get("name")):
        channel.name = name
        renamed: Obj = {"type": "channel_rename", "channel": {"id": channel.id, "name": name, "created": 1}}
        hub.deliverer.event(renamed | {"event_ts": at}, at, person.slack_user)
    if "removed" in arguments:
        kind = "member_left_channel" if arguments["removed"] is True else "member_joined_channel"
        hub.deliverer.event(membership_event(hub.world, kind, channel.id, person.slack_user, at), at, person.slack_user)
        if arguments["removed"] is not True:
            bot = hub.world.config.slack.bot_user
            words = f"<@{bot}> has joined the channel"
            told = hub.world.add(Message(at, channel.id, bot, words, inviter=person.slack_user))
            hub.deliverer.event(message_event(hub.world, told), told.ts, person.slack_user)
    return {"ok": True, "name": channel.name}


async def edit(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Change a message of the sender's own: `ts`, `text`."""
    message = _own(hub, person, arguments)
    before = message_record(hub.world, message)
    fresh = typed_message(message.ts, message.channel, message.user, _needed(arguments, "text"))
    message.text, message.blocks = fresh.text, fresh.blocks
    message.edited_by, message.edited_ts = message.user, hub.world.next_ts()
    hub.deliverer.changed(message, before)
    return {"ok": True, "ts": message.ts}


async def delete(hub: Hub, person: Person, arguments: Obj) -> Obj:
    remove(hub, _own(hub, person, arguments))
    return {"ok": True}


async def react(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Put the reaction `name` on the message `ts`, or take it back with `taken_back`."""
    message = _channel(hub, person, arguments).messages.get(_needed(arguments, "ts"))
    if message is None:
        raise BadAction("There is no message with that ts.")
    change = take_reaction if arguments.get("taken_back") is True else set_reaction
    try:
        change(hub, message, person.slack_user, _needed(arguments, "name"))
    except Refusal as refusal:
        raise BadAction(f"Slack says {refusal.code}.") from None
    return {"ok": True}


async def press(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Press `action_id` on the message `ts`, or in the view `view_id`; `value` chooses an option."""
    action_id, chosen = _needed(arguments, "action_id"), text(arguments.get("value"))
    if arguments.get("view_id"):
        return await interactions.press_in_view(hub, person, _view(hub, person, arguments), action_id, chosen)
    channel, ts = _channel(hub, person, arguments), _needed(arguments, "ts")
    mine = ("", person.slack_user)
    seen = [*channel.messages.values(), *channel.ephemeral]
    message = next((message for message in seen if message.ts == ts and message.ephemeral_for in mine), None)
    if message is None:
        raise BadAction(f"There is no message {ts}.")
    return await interactions.press(hub, person, message, action_id, chosen)


async def submit(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Send the modal `view_id` with `values`, by action_id or block_id."""
    view = _view(hub, person, arguments)
    return await interactions.submit(hub, person, view, obj(arguments.get("values")))


async def close(hub: Hub, person: Person, arguments: Obj) -> Obj:
    return await interactions.close(hub, person, _view(hub, person, arguments))


async def command(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Type a slash command: `text`, such as "/valet stop"."""
    return await interactions.command(hub, person, _needed(arguments, "text"))


async def open_home(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Open the app: its Home tab, or the `tab` "messages"."""
    tab, view = text(arguments.get("tab")) or "home", hub.world.homes.get(person.slack_user)
    if tab not in ("home", "messages"):
        raise BadAction('"tab" must be home or messages.')
    shown = view_record(hub.world, view) if view is not None else {}
    user, at = person.slack_user, hub.world.next_ts()
    hub.deliverer.event(home_event(user, dm_id(user), tab, view, shown, at), "", user)
    return {"ok": True}


async def redeliver(hub: Hub, _: Person, arguments: Obj) -> Obj:
    """Send the event `number` again, under its own event_id."""
    number = arguments.get("number")
    known = {delivery.number: delivery for delivery in hub.world.deliveries if "event_id" in delivery.payload}
    if not isinstance(number, int) or number not in known:
        raise BadAction('"number" must be that of an event.')
    hub.deliverer.redeliver(known[number])
    return {"ok": True, "event_id": known[number].payload["event_id"]}


async def as_bot(hub: Hub, person: Person, arguments: Obj) -> Obj:
    """Make another app write `text` into the direct conversation."""
    channel = _direct(hub, person)
    other = typed_message(hub.world.next_ts(), channel.id, "U0OTHERBOT", _needed(arguments, "text"))
    other.client_msg_id, other.bot_id, other.app_id = "", "B0OTHERBOT", "A0OTHERBOT"
    hub.deliverer.event(message_event(hub.world, hub.world.add(other)), other.ts, person.slack_user)
    return {"ok": True, "ts": other.ts}


async def verify_url(hub: Hub, _person: Person, _arguments: Obj) -> Obj:
    """Verify the request URL, as Slack does when it is saved in the app's settings."""
    return {"ok": await hub.deliverer.verify()}


async def refresh_sockets(hub: Hub, _person: Person, _arguments: Obj) -> Obj:
    """Ask all Socket Mode connections to reconnect."""
    await hub.deliverer.sockets.refresh()
    return {"ok": True}


ACTS: dict[str, Act] = {
    "say": say,
    "mention": mention,
    "channel_say": channel_say,
    "channel_open": channel_open,
    "channel_set": channel_set,
    "edit": edit,
    "delete": delete,
    "react": react,
    "press": press,
    "submit": submit,
    "close": close,
    "command": command,
    "open_home": open_home,
    "redeliver": redeliver,
    "as_bot": as_bot,
    "verify_url": verify_url,
    "refresh_sockets": refresh_sockets,
    "set": set_switches,
}


def _typed(hub: Hub, channel: Channel, person: Person, arguments: Obj) -> Message:
    thread = text(arguments.get("thread_ts"))
    root = channel.messages.get(thread)
    if thread and (root is None or root.thread_ts):
        raise BadAction(f"There is no thread {thread}.")
    holds_more = any(arguments.get(name) for name in ("files", "attachments", "blocks"))
    words = text(arguments.get("text")) if holds_more else _needed(arguments, "text")
    if person.slack_user in hub.world.disabled:
        raise BadAction(f"{person.name} is deactivated.")
    message = typed_message(hub.world.next_ts(), channel.id, person.slack_user, words, thread)
    message.files = [_file(hub, person, obj(file)) for file in items(arguments.get("files"))]
    message.attachments = items(arguments.get("attachments"))
    message.blocks = items(arguments.get("blocks")) or message.blocks
    return hub.world.add(message)


def _file(hub: Hub, person: Person, given: Obj) -> Obj:
    name, content = _needed(given, "name"), _needed(given, "content")
    try:
        coded = content.startswith("base64:")
        data = b64decode(content[7:], validate=True) if coded else content.encode()
    except ValueError:
        raise BadAction(f"The content of {name} is not base64.") from None
    record = file_record(hub, make_id("F"), name, data, person.slack_user)
    if clip := text(given.get("clip")):
        if clip not in ("audio", "video"):
            raise BadAction("A clip is audio or video.")
        seconds = given.get("seconds", 1)
        if not isinstance(seconds, int) or not 1 <= seconds <= _LONGEST_CLIP:
            raise BadAction(f'"seconds" of a clip must be a whole number from 1 to {_LONGEST_CLIP}.')
        record |= {"subtype": f"slack_{clip}", "media_display_type": clip, "duration_ms": seconds * 1000}
    if given.get("connect") is True:
        # reference/objects/file-object, `file_access`: "check_file_info" asks for a call of files.info.
        hub.world.uploads[text(record["id"])] = record | {"shared": True}
        return {"id": record["id"], "created": 0, "mode": "file_access", "file_access": "check_file_info"}
    return record


def _direct(hub: Hub, person: Person) -> Channel:
    return hub.world.channels[dm_id(person.slack_user)]


def _channel(hub: Hub, person: Person, arguments: Obj) -> Channel:
    return hub.world.channels.get(text(arguments.get("channel"))) or _direct(hub, person)


def _own(hub: Hub, person: Person, arguments: Obj) -> Message:
    message = _channel(hub, person, arguments).messages.get(_needed(arguments, "ts"))
    if message is None or message.user != person.slack_user:
        raise BadAction("One can only change one's own messages.")
    return message


def _view(hub: Hub, person: Person, arguments: Obj) -> View:
    name = _needed(arguments, "view_id")
    home = hub.world.homes.get(person.slack_user)
    if home is not None and home.id == name:
        return home
    view = hub.world.views.get(name)
    if view is None or view.user != person.slack_user:
        raise BadAction(f"There is no view {name}.")
    return view


def _needed(arguments: Obj, name: str) -> str:
    value: Json = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadAction(f'"{name}" is needed.')
    return value
