"""The page's view of the team: each person's conversation, modals, App Home, and failures."""

import html
from dataclasses import asdict

from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.records import interactive, view_record
from workbench.simulator.slack.shapes import Obj, items, obj, text
from workbench.simulator.slack.state import GENERAL, GROUP_DM, Channel, Delivery, Message, View, World, dm_id


def shown(world: World, connections: int) -> Obj:
    """Return the whole state; `people` by key, each with `bubbles`, `modals`, `home`, `failed` and more."""
    untold: dict[str, list[Delivery]] = {}
    for delivery in world.deliveries:
        if delivery.state != "delivered":
            untold.setdefault(delivery.user, []).append(delivery)
    return {
        "people": {
            person.key: _person(world, person, untold.get(person.slack_user, [])) for person in world.config.everyone
        },
        "channel": {
            "id": GENERAL,
            "name": world.channels[GENERAL].name,
            "begun": bool(world.channels[GENERAL].creator),
        },
        "general": _bubbles(world, world.channels[GENERAL], ""),
        "group_dm": _bubbles(world, world.channels[GROUP_DM], "") if GROUP_DM in world.channels else [],
        "switches": asdict(world.switches) | {"disabled": [*sorted(world.disabled)]},
        "connections": connections,
        "bot": {"name": world.config.slack.bot_name, "user": world.config.slack.bot_user},
    }


def visible_text(message: Message) -> str:
    """Return the visible text of a message: its blocks' text if it has blocks, else its own."""
    parts = [part for block in message.blocks for part in _texts(block)]
    own = message.text if message.markdown else html.unescape(message.text)
    if not parts:
        return own
    read = "\n".join(html.unescape(part) for part in parts)
    return f"{own}\n{read}" if message.markdown and own else read


def _person(world: World, person: Person, untold: list[Delivery]) -> Obj:
    channel = world.channels[dm_id(person.slack_user)]
    home = world.homes.get(person.slack_user)
    stack = [world.views[view_id] for view_id in world.stacks.get(person.slack_user, [])]
    return {
        "user": person.slack_user,
        "channel": channel.id,
        "name": person.name,
        "bubbles": _bubbles(world, channel, person.slack_user),
        "statuses": _statuses(world, channel),
        "titles": dict(channel.titles),
        "prompts": list(channel.prompts),
        "modals": [_view(world, view) for view in stack],
        "home": _view(world, home) if home is not None else None,
        "deliveries": [_delivery(delivery) for delivery in untold],
        "failed": [_delivery(delivery) for delivery in untold if delivery.state == "failed"],
    }


def _bubbles(world: World, channel: Channel, user: str) -> list[Json]:
    seen = [*channel.messages.values(), *(message for message in channel.ephemeral if message.ephemeral_for == user)]
    return [_bubble(world, message) for message in sorted(seen, key=lambda message: message.ts)]


def _bubble(world: World, message: Message) -> Obj:
    person = world.person(message.user)
    return {
        "id": message.ts,
        "ts": message.ts,
        "direction": "out" if message.bot_id else "in",
        "from": "bot" if message.bot_id else person.key if person else message.user,
        "app": message.app_id,
        "text": visible_text(message),
        "fallback": message.text,
        "markdown": message.markdown,
        "blocks": list(message.blocks),
        "buttons": [_button(element) for block in message.blocks for element in interactive(obj(block))],
        "thread_ts": message.thread_ts,
        "edited": bool(message.edited_ts),
        "streaming": message.streamed is not None,
        "tasks": list(message.tasks.values()),
        "ephemeral": bool(message.ephemeral_for),
        "files": [_file(obj(file)) for file in message.files],
        "reactions": {name: [*users] for name, users in message.reactions.items()},
    }


def _file(file: Obj) -> Obj:
    return {
        "name": file.get("name"),
        "content_type": file.get("mimetype"),
        "size": file.get("size"),
        "url": f"/sim/files/slack/{text(file.get('id'))}",
    }


def _button(element: Obj) -> Obj:
    shown = {name: element.get(name) for name in ("action_id", "type", "value", "style")}
    return shown | {"text": obj(element.get("text")).get("text")}


def _statuses(world: World, channel: Channel) -> Obj:
    # methods/assistant.threads.setStatus: gone after two minutes without a message.
    oldest = world.now() - limits.STATUS_SECONDS
    return {root: status.text for root, status in channel.statuses.items() if status.at >= oldest}


def _view(world: World, view: View) -> Obj:
    blocks = items(view.body.get("blocks"))
    buttons = [_button(element) for block in blocks for element in interactive(obj(block))]
    return view_record(world, view) | {"errors": dict(view.errors), "buttons": [*buttons]}


def _delivery(delivery: Delivery) -> Obj:
    return {
        "number": delivery.number,
        "kind": delivery.kind,
        "about": delivery.about,
        "event_id": delivery.payload.get("event_id"),
        "state": delivery.state,
        "attempts": list(delivery.attempts),
    }


def _texts(value: Json) -> list[str]:
    """Return the texts of a block in reading order, without those of buttons."""
    if isinstance(value, list):
        return [part for item in value for part in _texts(item)]
    if not isinstance(value, dict) or value.get("type") in ("button", "static_select"):
        return []
    if value.get("type") == "rich_text_section":
        return ["".join(text(obj(item).get("text")) for item in items(value.get("elements")))]
    own = value.get("text")
    if isinstance(own, str):
        return [own]
    keys = ("text", "label", "elements")
    return [part for key in keys for part in _texts(value.get(key))]
