"""A person's use of buttons, modals and commands: the payloads, and the effects of the answers on the screen."""

import secrets

from workbench.simulator.base import BadAction
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.blocks import Surface
from workbench.simulator.slack.chat import show
from workbench.simulator.slack.deliver import Reply
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.message_rules import check_content
from workbench.simulator.slack.method import Hub
from workbench.simulator.slack.modal_values import read_values
from workbench.simulator.slack.records import interactive, message_record, view_record
from workbench.simulator.slack.shapes import Obj, items, obj, text
from workbench.simulator.slack.state import Message, ResponseUrl, View, dm_id
from workbench.simulator.slack.view_rules import check_view
from workbench.simulator.slack.views import place, replace

PATH = "/slack/response"


async def press(hub: Hub, person: Person, message: Message, action_id: str, chosen: str) -> Obj:
    """Use an element of a message: block_actions (reference/interaction-payloads/block_actions-payload)."""
    action = _action(hub, message.blocks, action_id, chosen)
    ephemeral = bool(message.ephemeral_for)
    name = "directmessage" if hub.world.channels[message.channel].user else "general"
    container: Obj = {"type": "message", "message_ts": message.ts, "channel_id": message.channel}
    container |= {"is_ephemeral": ephemeral} | ({"thread_ts": message.thread_ts} if message.thread_ts else {})
    payload = _base(hub, person, "block_actions") | {
        "container": container,
        "trigger_id": hub.world.trigger(person.slack_user),
        "channel": {"id": message.channel, "name": name},
        "message": message_record(hub.world, message, metadata=True),
        "state": {"values": {}},
        "response_url": response_url(hub, message.channel, person.slack_user, message.ts),
        "actions": [action],
    }
    if ephemeral:
        del payload["message"]
    return _told(await hub.deliverer.interact("interactive", payload, message.ts, person.slack_user))


async def press_in_view(hub: Hub, person: Person, view: View, action_id: str, chosen: str) -> Obj:
    """Use an element of a modal or of the App Home."""
    payload = _base(hub, person, "block_actions") | {
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": hub.world.trigger(person.slack_user, view.id),
        "view": view_record(hub.world, view),
        "actions": [_action(hub, items(view.body.get("blocks")), action_id, chosen)],
    }
    return _told(await hub.deliverer.interact("interactive", payload, view.id, person.slack_user))


async def submit(hub: Hub, person: Person, view: View, entered: Obj) -> Obj:
    """Send a modal: view_submission, and carry out its response_action (surfaces/modals)."""
    view.values = read_values(items(view.body.get("blocks")), entered, view.values)
    view.errors = {}
    payload = _base(hub, person, "view_submission") | {
        "trigger_id": hub.world.trigger(person.slack_user, view.id),
        "view": view_record(hub.world, view),
        "response_urls": [],
    }
    reply = await hub.deliverer.interact("interactive", payload, view.id, person.slack_user)
    if reply.reason:
        return _told(reply)
    try:
        return {"ok": True, "outcome": _respond(hub, person, view, obj(reply.body))}
    except Refusal as refusal:
        # The person sees "We had some trouble connecting"; the modal stays.
        hub.world.deliveries[-1].state = "failed"
        return refusal.body()


async def close(hub: Hub, person: Person, view: View) -> Obj:
    """Close a modal; the app hears of it only if it asked to (notify_on_close)."""
    pop(hub, person.slack_user, view)
    if view.body.get("notify_on_close") is not True:
        return {"ok": True}
    payload = _base(hub, person, "view_closed") | {"view": view_record(hub.world, view), "is_cleared": False}
    return _told(await hub.deliverer.interact("interactive", payload, view.id, person.slack_user))


async def command(hub: Hub, person: Person, typed: str) -> Obj:
    """Send a slash command (interactivity/implementing-slash-commands) and show its immediate answer."""
    name, _, rest = typed.strip().partition(" ")
    if name not in hub.world.switches.commands:
        raise BadAction(f"{name} is not a valid command.")
    slack, channel = hub.world.config.slack, dm_id(person.slack_user)
    payload: Obj = {
        "token": slack.verification_token,
        "team_id": slack.team_id,
        "team_domain": slack.team_name.lower(),
        "channel_id": channel,
        "channel_name": "directmessage",
        "user_id": person.slack_user,
        "user_name": person.key,
        "command": name,
        "text": rest.strip(),
        "api_app_id": slack.app_id,
        "is_enterprise_install": "false",
        "response_url": response_url(hub, channel, person.slack_user),
        "trigger_id": hub.world.trigger(person.slack_user),
    }
    reply = await hub.deliverer.interact("slash_commands", payload, "", person.slack_user)
    if reply.reason or reply.body in (None, ""):
        return _told(reply)
    answer: Obj = {"text": reply.body} if isinstance(reply.body, str) else obj(reply.body)
    try:
        say(hub, channel, person.slack_user, answer)
    except Refusal as refusal:
        hub.world.deliveries[-1].state = "failed"
        return refusal.body()
    return _told(reply)


def response_url(hub: Hub, channel: str, user: str, message_ts: str = "") -> str:
    """Return a response_url: five uses in thirty minutes."""
    token = secrets.token_urlsafe(18)
    hub.world.response_urls[token] = ResponseUrl(channel, user, hub.world.now(), message_ts)
    return f"{hub.url()}{PATH}/{token}"


def say(hub: Hub, channel: str, user: str, answer: Obj) -> Message:
    """Show an app's answer to a command or through a response_url: to the person alone by default."""
    slack, content = hub.world.config.slack, check_content(answer)
    message = Message(
        ts=hub.world.next_ts(),
        channel=channel,
        user=slack.bot_user,
        bot_id=slack.bot_id,
        app_id=slack.app_id,
        ephemeral_for="" if answer.get("response_type") == "in_channel" else user,
        thread_ts=text(answer.get("thread_ts")),
    )
    show(message, content)
    hub.world.add(message)
    if not message.ephemeral_for:
        hub.deliverer.posted(message)
    return message


def pop(hub: Hub, user: str, view: View) -> None:
    """Remove a modal, and those above it, from the person's screen."""
    stack = hub.world.stacks.get(user, [])
    at = stack.index(view.id)
    for gone in stack[at:]:
        del hub.world.views[gone]
    hub.world.stacks[user] = stack[:at]


def _respond(hub: Hub, person: Person, view: View, answer: Obj) -> str:
    match answer.get("response_action"):
        case None:
            pop(hub, person.slack_user, view)
            return "closed"
        case "clear":
            for view_id in hub.world.stacks.pop(person.slack_user, []):
                del hub.world.views[view_id]
            return "cleared"
        case "errors":
            view.errors = _errors(view, obj(answer.get("errors")))
            return "errors"
        case "update":
            replace(view, check_view(answer.get("view"), Surface.MODAL))
            return "updated"
        case "push":
            stack = hub.world.stacks[person.slack_user]
            if len(stack) >= limits.VIEW_STACK:
                raise Refusal("push_limit_reached")
            place(hub.world, person.slack_user, check_view(answer.get("view"), Surface.MODAL), on=stack)
            return "pushed"
        case _:
            raise Refusal("invalid_response_action")


def _errors(view: View, errors: Obj) -> Obj:
    # surfaces/modals, "Displaying errors": keys are block_ids of input blocks, values are shown beneath them.
    inputs = {
        text(obj(block).get("block_id"))
        for block in items(view.body.get("blocks"))
        if obj(block).get("type") == "input"
    }
    if not errors or not set(errors) <= inputs or not all(text(value) for value in errors.values()):
        raise Refusal("invalid_response_errors")
    return errors


def _base(hub: Hub, person: Person, kind: str) -> Obj:
    slack = hub.world.config.slack
    user: Obj = {"id": person.slack_user, "username": person.key, "name": person.key, "team_id": slack.team_id}
    return {
        "type": kind,
        "user": user,
        "api_app_id": slack.app_id,
        "token": slack.verification_token,
        "team": {"id": slack.team_id, "domain": slack.team_name.lower()},
        "enterprise": None,
        "is_enterprise_install": False,
    }


def _action(hub: Hub, blocks: list[Json], action_id: str, chosen: str) -> Obj:
    for block in blocks:
        for element in interactive(obj(block)):
            if element.get("action_id") == action_id:
                return _used(element, chosen) | {
                    "block_id": obj(block).get("block_id"),
                    "action_ts": hub.world.next_ts(),
                }
    raise BadAction(f'There is nothing with the action_id "{action_id}" to press there.')


def _used(element: Obj, chosen: str) -> Obj:
    kind = text(element.get("type"))
    action: Obj = {"type": kind, "action_id": element.get("action_id")}
    if kind == "button":
        return action | {key: element[key] for key in ("text", "value", "style") if key in element}
    for option in items(element.get("options")):
        if obj(option).get("value") == chosen:
            return action | {"selected_option": option}
    raise BadAction(f'There is no option "{chosen}".')


def _told(reply: Reply) -> Obj:
    return {"ok": not reply.reason} | ({"error": reply.reason} if reply.reason else {})
