"""The payloads of the Events API: apis/events-api, "callback field", and reference/events."""

import html
import secrets
import uuid

from workbench.simulator.config import SlackConfig
from workbench.simulator.journal import Json
from workbench.simulator.slack.records import message_record
from workbench.simulator.slack.shapes import Obj
from workbench.simulator.slack.state import Message, View, World, make_id


def envelope(slack: SlackConfig, event: Obj, at: float) -> Obj:
    """Wrap an event in its event_callback, with an id that is the same in every attempt."""
    authorization: Obj = {
        "enterprise_id": None,
        "team_id": slack.team_id,
        "user_id": slack.bot_user,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    return {
        "token": slack.verification_token,
        "team_id": slack.team_id,
        "context_team_id": slack.team_id,
        "context_enterprise_id": None,
        "api_app_id": slack.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": make_id("Ev"),
        "event_time": int(at),
        "authorizations": [authorization],
        "is_ext_shared_channel": False,
        "event_context": f"4-{secrets.token_hex(32)}",
    }


def message_event(world: World, message: Message) -> Obj:
    """Return reference/events/message.im (or message.channels): a person's message or a bot's."""
    channel = world.channels[message.channel]
    where: Obj = {"channel": channel.id, "channel_type": channel.kind, "event_ts": message.ts}
    return message_record(world, message, metadata=True) | where


def mention_event(world: World, message: Message) -> Obj:
    """Return reference/events/app_mention: it shares its ts with the message event."""
    event = message_event(world, message) | {"type": "app_mention"}
    del event["channel_type"]
    return event


def membership_event(world: World, kind: str, channel: str, inviter: str, at: str) -> Obj:
    """Return reference/events/member_joined_channel or member_left_channel, about the bot."""
    slack = world.config.slack
    event: Obj = {"type": kind, "user": slack.bot_user, "channel": channel, "channel_type": "C", "team": slack.team_id}
    return event | {"event_ts": at} | ({"inviter": inviter} if kind == "member_joined_channel" else {})


def changed_event(world: World, message: Message, before: Obj, at: str) -> Obj:
    return _hidden(world, message, at) | {
        "subtype": "message_changed",
        "message": message_record(world, message, metadata=True),
        "previous_message": before,
    }


def deleted_event(world: World, message: Message, before: Obj, at: str) -> Obj:
    gone: Obj = {"subtype": "message_deleted", "deleted_ts": message.ts, "previous_message": before}
    return _hidden(world, message, at) | gone


def reaction_event(kind: str, message: Message, user: str, name: str, at: str) -> Obj:
    """Return reference/events/reaction_added or reaction_removed."""
    item: Obj = {"type": "message", "channel": message.channel, "ts": message.ts}
    return {"type": kind, "user": user, "reaction": name, "item_user": message.user, "item": item, "event_ts": at}


def home_event(user: str, channel: str, tab: str, view: View | None, shown: Obj, at: str) -> Obj:
    """Return reference/events/app_home_opened; the view is included after a view was published."""
    event: Obj = {"type": "app_home_opened", "user": user, "channel": channel, "tab": tab, "event_ts": at}
    return event | ({"view": shown} if view is not None and tab == "home" else {})


def typed_message(ts: str, channel: str, user: str, content: str, thread_ts: str = "") -> Message:
    """Return a message as Slack's client sends it: text escaped (messaging/formatting), with its rich text."""
    element: Obj = {"type": "text", "text": content}
    section: Obj = {"type": "rich_text_section", "elements": [element]}
    blocks: list[Json] = [{"type": "rich_text", "block_id": secrets.token_hex(3), "elements": [section]}]
    return Message(
        ts=ts,
        channel=channel,
        user=user,
        text=html.escape(content, quote=False),
        blocks=blocks if content else [],
        thread_ts=thread_ts,
        client_msg_id=str(uuid.uuid4()),
    )


def _hidden(world: World, message: Message, at: str) -> Obj:
    channel = world.channels[message.channel]
    moment: Obj = {"ts": at, "event_ts": at}
    return {"type": "message", "channel": channel.id, "channel_type": channel.kind, "hidden": True, **moment}
