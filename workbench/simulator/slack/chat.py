"""chat.postMessage, chat.update, chat.delete, chat.postEphemeral, reactions.add and .remove."""

import re

from workbench.simulator.slack import limits
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.message_rules import Content, check_content
from workbench.simulator.slack.method import Hub, Method, find_channel, find_message, find_own_message, find_root, truth
from workbench.simulator.slack.records import message_record, with_ids
from workbench.simulator.slack.shapes import Obj, text
from workbench.simulator.slack.state import Channel, Message


def post_message(hub: Hub, arguments: Obj) -> Obj:
    channel = find_channel(hub, arguments, by_user=True)
    check_postable(hub, channel)
    content = check_content(arguments)
    root = find_root(channel, text(arguments.get("thread_ts")))
    _check_rate(hub, channel)
    message = hub.world.add(bot_message(hub, channel, content, root))
    message.broadcast = bool(root) and truth(arguments.get("reply_broadcast"))
    hub.deliverer.posted(message)
    answer: Obj = {
        "ok": True,
        "channel": channel.id,
        "ts": message.ts,
        "message": message_record(hub.world, message, metadata=True),
    }
    if content.warnings:
        metadata: Obj = {"warnings": [*content.warnings]}
        answer |= {"warning": ",".join(content.warnings), "response_metadata": metadata}
    return answer


def update(hub: Hub, arguments: Obj) -> Obj:
    channel, message = find_own_message(hub, arguments, "cant_update_message")
    # methods/chat.update, error streaming_state_conflict.
    if message.streamed is not None:
        raise Refusal("streaming_state_conflict")
    content = check_content(arguments, update=True)
    before = message_record(hub.world, message)
    _rewrite(hub, message, content)
    hub.deliverer.changed(message, before)
    record = message_record(hub.world, message, metadata=True)
    return {"ok": True, "channel": channel.id, "ts": message.ts, "text": message.text, "message": record}


def delete(hub: Hub, arguments: Obj) -> Obj:
    channel, message = find_own_message(hub, arguments, "cant_delete_message")
    remove(hub, message)
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def post_ephemeral(hub: Hub, arguments: Obj) -> Obj:
    channel = find_channel(hub, arguments)
    check_postable(hub, channel)
    user = text(arguments.get("user"))
    if hub.world.person(user) is None or (channel.user and channel.user != user):
        raise Refusal("user_not_in_channel")
    content = check_content(arguments)
    message = bot_message(hub, channel, content, find_root(channel, text(arguments.get("thread_ts"))))
    message.ephemeral_for = user
    hub.world.add(message)
    return {"ok": True, "message_ts": message.ts}


def add_reaction(hub: Hub, arguments: Obj) -> Obj:
    message, name = _reacted(hub, arguments)
    set_reaction(hub, message, hub.world.config.slack.bot_user, name)
    return {"ok": True}


def remove_reaction(hub: Hub, arguments: Obj) -> Obj:
    message, name = _reacted(hub, arguments)
    take_reaction(hub, message, hub.world.config.slack.bot_user, name)
    return {"ok": True}


def set_reaction(hub: Hub, message: Message, user: str, name: str) -> None:
    """Let somebody react, once with each name. Raises `Refusal`."""
    users = message.reactions.setdefault(name, [])
    if user in users:
        raise Refusal("already_reacted")
    users.append(user)
    hub.deliverer.reacted("reaction_added", message, user, name)


def take_reaction(hub: Hub, message: Message, user: str, name: str) -> None:
    """Let somebody take a reaction back. Raises `Refusal`."""
    users = message.reactions.get(name, [])
    if user not in users:
        raise Refusal("no_reaction")
    users.remove(user)
    if not users:
        del message.reactions[name]
    hub.deliverer.reacted("reaction_removed", message, user, name)


def check_postable(hub: Hub, channel: Channel) -> None:
    """Refuse channels that take no messages: a deactivated person's, or all while the Messages tab is off."""
    if channel.user in hub.world.disabled:
        raise Refusal("is_archived")
    if channel.user and not hub.world.switches.messages_tab:
        raise Refusal("messages_tab_disabled")


def bot_message(hub: Hub, channel: Channel, content: Content, root: str) -> Message:
    """Return a message of the app's bot, not yet kept."""
    slack = hub.world.config.slack
    message = Message(
        ts=hub.world.next_ts(),
        channel=channel.id,
        user=slack.bot_user,
        bot_id=slack.bot_id,
        app_id=slack.app_id,
        thread_ts=root,
        metadata=content.metadata,
    )
    show(message, content)
    return message


def remove(hub: Hub, message: Message) -> None:
    """Remove a message from its channel and notify the app."""
    before = message_record(hub.world, message)
    del hub.world.channels[message.channel].messages[message.ts]
    hub.deliverer.deleted(message, before)


def show(message: Message, content: Content) -> None:
    """Put text, or Markdown, and blocks into a message."""
    message.markdown = bool(content.markdown)
    message.text = content.markdown or content.text
    message.blocks = with_ids(content.blocks)


METHODS = {
    "chat.postMessage": Method(post_message, ("chat:write",), ("channel",)),
    "chat.update": Method(update, ("chat:write",), ("channel", "ts")),
    "chat.delete": Method(delete, ("chat:write",), ("channel", "ts")),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",), ("channel", "user")),
    "reactions.add": Method(add_reaction, ("reactions:write",), ("channel", "name", "timestamp")),
    "reactions.remove": Method(remove_reaction, ("reactions:write",), ("name",)),
}


def _reacted(hub: Hub, arguments: Obj) -> tuple[Message, str]:
    if not arguments.get("channel") or not arguments.get("timestamp"):
        raise Refusal("no_item_specified")
    channel = find_channel(hub, arguments)
    stamp, name = text(arguments.get("timestamp")), text(arguments.get("name"))
    if not re.fullmatch(r"\d+\.\d{6}", stamp):
        raise Refusal("bad_timestamp")
    if not re.fullmatch(r"[a-z0-9_+'-]+", name):
        raise Refusal("invalid_name")
    return find_message(channel, stamp), name


def _rewrite(hub: Hub, message: Message, content: Content) -> None:
    # methods/chat.update: blocks stay only when text isn't given; text alone removes them and shows "edited".
    if content.given & {"text", "blocks", "markdown_text", "attachments"}:
        kept = message.blocks if not content.given & {"text", "blocks", "markdown_text"} else None
        show(message, content)
        message.blocks = kept or message.blocks
    if "metadata" in content.given:
        message.metadata = content.metadata
    if "blocks" not in content.given:
        message.edited_by, message.edited_ts = message.user, hub.world.next_ts()


def _check_rate(hub: Hub, channel: Channel) -> None:
    # apis/web-api/rate-limits: about one message a second per channel; short bursts are allowed, so this
    # is strict only if a test requests it.
    now, last = hub.world.now(), hub.world.posted.get(channel.id, 0.0)
    if hub.world.switches.strict_rate and now - last < limits.POSTS_PER_SECOND:
        raise Refusal("ratelimited", retry_after=1)
    hub.world.posted[channel.id] = now
