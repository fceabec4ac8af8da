"""From a payload of Slack's to its meaning for us; pure.

Source: docs.slack.dev, apis/events-api, interactivity/implementing-slash-commands and the payloads' pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from channels.fields import object_at, text_at
from channels.slack.changes import read_change
from channels.slack.groups import JOINED, LEFT, RENAMED, read_membership
from channels.slack.interactions import Gesture, read_press, read_submission
from channels.slack.messages import AppIdentity, channel_at, read_message
from channels.slack.payload_fields import (
    APP,
    CHANNEL,
    EVENT,
    TEAM,
    TOKEN,
    USER,
    WORD,
    name_at,
    objects_at,
    optional_name,
)
from channels.slack.reactions import ADDED, REMOVED, read_reaction
from channels.slack.text import unescape
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.messaging.chat_reader import chat_words
from core.messaging.help_words import HELP
from core.messaging.inbound import Amendment, Reaction
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason, InboundMessage
from providers.slack.wire import CHANNEL_NAME


@dataclass(frozen=True, slots=True)
class Challenge:
    """Slack asks whether this address is ours."""

    challenge: str


@dataclass(frozen=True, slots=True)
class HomeOpened:
    """A person of a team opened the app; `tab` is home or messages."""

    user: str
    tab: str
    team: str


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command. It may be typed anywhere: `message.address.peer` is that place, not our conversation."""

    message: InboundMessage


@dataclass(frozen=True, slots=True)
class Unhandled:
    """A well-formed payload of a kind that we do not use."""

    kind: str


type SlackInput = (
    InboundMessage | Amendment | Reaction | IgnoredMessage | SlashCommand | Gesture | HomeOpened | Challenge | Unhandled
)


def parse(body: JsonObject, ours: AppIdentity) -> SlackInput:
    """Parse a payload, from a webhook or a socket. Raises `RequestRefused` when it is not well-formed."""
    kind = optional_name(body, "type", WORD)
    match kind:
        case "url_verification":
            return Challenge(name_at(body, "challenge", TOKEN))
        case "event_callback":
            return _event(body, ours)
        case "block_actions":
            team = _team(body)
            return _foreign(body, team, ours) or read_press(body, team)
        case "view_submission":
            team = _team(body)
            return _foreign(body, team, ours) or read_submission(body, team)
    if kind:
        return Unhandled(kind)
    if "command" in body:
        return _command(body, ours)
    if "ssl_check" in body:
        return Unhandled("ssl_check")
    raise RequestRefused("type is missing")


def _event(body: JsonObject, ours: AppIdentity) -> SlackInput:
    team = name_at(body, "team_id", TEAM)
    app = name_at(body, "api_app_id", APP)
    key = f"event:{name_at(body, 'event_id', EVENT)}"
    event = object_at(body, "event")
    bot_users = [one for one in objects_at(body, "authorizations") if one.get("is_bot") is True]
    kind = name_at(event, "type", WORD)
    if not _is_ours(team, app, ours):
        return IgnoredMessage(Address(CHANNEL_NAME, ours.team or team, team), "", (key,), IgnoreReason.OTHER_ACCOUNT)
    # A request is signed with the app's own secret, so the app that it names is ours, and so is the bot.
    known = replace(ours, team=team, app=app, bot_user=ours.bot_user or _user_of(bot_users))
    match kind:
        case "message" | "app_mention":
            channel = channel_at(event)
            direct = _is_direct(event, channel)
            read = read_message(event, channel, known, direct=direct, keys=(key,))
            if isinstance(read, IgnoredMessage) and read.reason in (IgnoreReason.EDITED, IgnoreReason.DELETED):
                return read_change(event, channel, known, direct=direct, keys=(key,))
            return read
        case reaction if reaction in (ADDED, REMOVED):
            return read_reaction(event, known, key) or Unhandled(kind)
        case moved if moved in (JOINED, LEFT, *RENAMED):
            return read_membership(event, key, team, known.bot_user) or Unhandled(kind)
        case "app_home_opened":
            return HomeOpened(name_at(event, "user", USER), text_at(event, "tab"), ours.team or team)
    return Unhandled(kind)


def _user_of(bots: Sequence[JsonObject]) -> str:
    """Return our bot's user as an event names it: Slack may not have told us yet who we are."""
    return optional_name(bots[0], "user_id", USER) if bots else ""


def _command(body: JsonObject, ours: AppIdentity) -> SlackInput:
    team = name_at(body, "team_id", TEAM)
    user = name_at(body, "user_id", USER)
    key = f"trigger:{name_at(body, 'trigger_id', TOKEN)}"
    address = Address(CHANNEL_NAME, team, name_at(body, "channel_id", CHANNEL))
    command = name_at(body, "command", TOKEN)
    if not _is_ours(team, optional_name(body, "api_app_id", APP), ours):
        return IgnoredMessage(replace(address, account=ours.team or team), user, (key,), IgnoreReason.OTHER_ACCOUNT)
    text = unescape(text_at(body, "text")).strip()
    said = text or HELP.name
    if (named := chat_words().read(f"/{said}", CHANNEL_NAME)) is not None:
        typed = f"{command} {said if named.argument else said.lower()}"
        return SlashCommand(InboundMessage(address, user, (key,), typed, command=named))
    return SlashCommand(InboundMessage(address, user, (key,), text))


def _foreign(payload: JsonObject, team: str, ours: AppIdentity) -> IgnoredMessage | None:
    if _is_ours(team, optional_name(payload, "api_app_id", APP), ours):
        return None
    read = read_press(payload, team) if payload["type"] == "block_actions" else read_submission(payload, team)
    inbound = read.press if isinstance(read, Gesture) else read
    address = replace(inbound.address, account=ours.team or team, peer=inbound.address.peer or inbound.sender)
    return IgnoredMessage(address, inbound.sender, inbound.keys, IgnoreReason.OTHER_ACCOUNT)


def _team(payload: JsonObject) -> str:
    """Return the team of an interaction; for an app of a whole organisation, the user's entry has it."""
    team = payload.get("team")
    if isinstance(team, dict):
        return name_at(team, "id", TEAM)
    return name_at(object_at(payload, "user"), "team_id", TEAM)


def _is_ours(team: str, app: str, ours: AppIdentity) -> bool:
    """Return whether team and app are ours, as far as we know them."""
    return ours.team in ("", team) and (not app or ours.app in ("", app))


def _is_direct(event: JsonObject, channel: str) -> bool:
    kind = text_at(event, "channel_type")
    return kind in ("im", "app_home") if kind else channel.startswith("D")
