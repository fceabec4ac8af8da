"""The app's manifest, from which Slack creates the app, with a reason for each scope; pure.

`uv run -m workbench.pages.words` writes `manifest.yaml` next to this file. Source of the fields: docs.slack.dev,
reference/app-manifest.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.json_types import Json, JsonObject
from core.messaging.chat_reader import chat_words
from providers.slack.wire import CHANNEL_NAME, WEBHOOK_PATH

MANIFEST = Path(__file__).with_name("manifest.yaml")
"""The shipped file."""
PLACE = "https://valet.example.com"
"""Stands for the public URL in the shipped file."""

SCOPES = {
    "app_mentions:read": "to hear that somebody mentions it in a channel",
    "assistant:write": "to show that it is working, and to offer prompts",
    "channels:history": "to know what a channel that it takes part in talks about",
    "channels:read": "to know a channel's name, and who created it",
    "chat:write": "to answer",
    "commands": "to offer /valet",
    "files:read": "to read the files that people send it",
    "files:write": "to send files",
    "groups:history": "to know the same of private channels",
    "groups:read": "to know the same of private channels",
    "im:history": "to read what people write to it, and what it missed while it was away",
    "im:read": "to find its direct conversations again after it was away",
    "im:write": "to write to a person first",
    "mpim:history": "to know the same of group conversations",
    "mpim:read": "to know the same of group conversations",
    "reactions:read": "to hear which answers people like, and what they decide by a thumb",
    "reactions:write": "to mark a message that it is working on, and to answer a mere thanks",
    "users:read": "to know its own app's id, and people's names and time zones",
    "users:read.email": "to find a member by their mail address, to write to them on somebody's behalf",
}
EVENTS = {
    "app_home_opened": "to draw the App Home",
    "app_mention": "to hear that somebody mentions it in a channel",
    "channel_rename": "to know a channel by its new name",
    "group_rename": "to know a private channel by its new name",
    "member_joined_channel": "to hear that it was added to a channel",
    "member_left_channel": "to hear that it was removed",
    "message.channels": "to know what a channel that it takes part in talks about",
    "message.groups": "to know the same of private channels",
    "message.im": "to hear what people write to it",
    "message.mpim": "to know the same of group conversations",
    "reaction_added": "to hear a reaction",
    "reaction_removed": "to hear that a reaction was taken back",
}
PROMPTS = (
    ("What can you do?", "What can you do?"),
    ("Note something down", "Note: the spare key is with the neighbours."),
)


def manifest(public_url: str = PLACE, *, socket_mode: bool = False) -> JsonObject:
    """Return the manifest for an app that is called at this URL, or over sockets, for which no URL is needed."""
    address: JsonObject = {} if socket_mode else {"request_url": public_url.rstrip("/") + WEBHOOK_PATH}
    command_url: JsonObject = {} if socket_mode else {"url": public_url.rstrip("/") + WEBHOOK_PATH}
    offered = [command.name for command in chat_words().in_menu(CHANNEL_NAME)]
    prompts: list[Json] = [{"title": title, "message": message} for title, message in PROMPTS]
    return {
        "display_information": {
            "name": "OneValet",
            "description": "Your personal assistant: write to it in a direct message.",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "valet", "always_online": True},
            "agent_view": {
                "agent_description": "Your personal assistant: write to it in your own words.",
                "suggested_prompts": prompts,
            },
            "slash_commands": [
                {
                    "command": "/valet",
                    **command_url,
                    "description": "Start afresh, interrupt, or say something",
                    "usage_hint": " | ".join([*offered, "anything else"]),
                    "should_escape": False,
                }
            ],
        },
        "oauth_config": {"scopes": {"bot": [*SCOPES]}},
        "settings": {
            "event_subscriptions": {**address, "bot_events": [*EVENTS]},
            "interactivity": {"is_enabled": True, **address},
            "org_deploy_enabled": False,
            "socket_mode_enabled": socket_mode,
            "token_rotation_enabled": False,
        },
    }


def manifest_yaml(public_url: str = PLACE, *, socket_mode: bool = False) -> str:
    """Write the manifest as YAML, each scope and event with its reason."""
    head = [
        "# Slack's manifest of the app: Create New App -> From a manifest.",
        f"# With an address of your own in the place of {PLACE}: bin/onevalet channels setup",
    ]
    return "\n".join([*head, *_lines(manifest(public_url, socket_mode=socket_mode), 0)]) + "\n"


def _lines(value: JsonObject, depth: int) -> Iterator[str]:
    """Yield the small part of YAML that a manifest needs: strings and flags are JSON, which YAML accepts."""
    pad = "  " * depth
    for name, item in value.items():
        match item:
            case dict():
                yield f"{pad}{name}:"
                yield from _lines(item, depth + 1)
            case list():
                yield f"{pad}{name}:"
                for line in item:
                    yield from _item(line, depth + 1)
            case _:
                yield f"{pad}{name}: {_scalar(item)}"


def _item(value: Json, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(value, dict):
        first, *rest = _lines(value, depth + 1)
        yield f"{pad}- {first.lstrip()}"
        yield from rest
        return
    reasons: Mapping[str, str] = SCOPES | EVENTS
    reason = reasons.get(str(value))
    yield f"{pad}- {_scalar(value)}" + (f"  # {reason}" if reason else "")


def _scalar(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
