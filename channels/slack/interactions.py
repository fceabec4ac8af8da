"""Pressed buttons and submitted forms of ours, as `core.messaging.messages.Press`; pure.

Source of the shapes: docs.slack.dev, reference/interaction-payloads.
"""

from dataclasses import dataclass

from channels.fields import object_at, text_at
from channels.slack.payload_fields import CHANNEL, TOKEN, TS, USER, WORD, name_at, objects_at, optional_name
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason, Press
from providers.slack.wire import CHANNEL_NAME, is_choice, is_token

FORM = "onevalet_form"
"""The callback_id of the forms that we open."""


@dataclass(frozen=True, slots=True)
class Gesture:
    """One of our buttons pressed, or one of our forms submitted.

    Without `press.address.peer` it was in a form or in the App Home, which belong to no conversation. `trigger_id`
    opens a single form within 3 s.
    """

    press: Press
    trigger_id: str | None = None


def read_press(payload: JsonObject, team: str) -> Gesture | IgnoredMessage:
    """Read a block_actions payload; ignore it unless it is one of our buttons in a direct conversation.

    Raises `RequestRefused`.
    """
    user = name_at(object_at(payload, "user"), "id", USER)
    actions = objects_at(payload, "actions")
    if not actions:
        raise RequestRefused("actions are missing")
    action, container = actions[0], object_at(payload, "container")
    channel = optional_name(container, "channel_id", CHANNEL)
    name = name_at(action, "action_id", TOKEN)
    # Slack gives presses no id of their own.
    keys = (f"action:{name_at(action, 'action_ts', TS)}:{user}:{name}",)
    address = Address(CHANNEL_NAME, team, channel, optional_name(container, "thread_ts", TS))
    token, message = _value(action), optional_name(container, "message_ts", TS)
    if channel and not channel.startswith("D"):
        return IgnoredMessage(address, user, keys, IgnoreReason.GROUP)
    if text_at(action, "type") != "button" or not is_choice(name) or not is_token(token):
        return _unsupported(address, user, keys)
    return Gesture(
        Press(address, user, keys, token, provider_id=message or None, has_forms=True),
        text_at(payload, "trigger_id") or None,
    )


def read_submission(payload: JsonObject, team: str) -> Gesture | IgnoredMessage:
    """Read a view_submission payload; ignore it unless the form is ours. Raises `RequestRefused`."""
    user = name_at(object_at(payload, "user"), "id", USER)
    view = object_at(payload, "view")
    name_at(view, "type", WORD)
    if "callback_id" not in view:
        raise RequestRefused("callback_id is missing")
    # The hash changes with each state of the view.
    keys = (f"view:{name_at(view, 'id', TOKEN)}:{name_at(view, 'hash', TOKEN)}",)
    address = Address(CHANNEL_NAME, team, "")
    token, entered = text_at(view, "private_metadata"), _entered(view)
    if text_at(view, "callback_id") != FORM or not is_token(token):
        return _unsupported(address, user, keys)
    return Gesture(
        Press(address, user, keys, token, entered=entered, has_forms=True), text_at(payload, "trigger_id") or None
    )


def _unsupported(address: Address, user: str, keys: tuple[str, ...]) -> IgnoredMessage:
    place = Address(address.channel, address.account, address.peer or user, address.thread)
    return IgnoredMessage(place, user, keys, IgnoreReason.UNSUPPORTED)


def _entered(view: JsonObject) -> tuple[tuple[str, str], ...]:
    """Return the fields by name, an input's action_id; an empty field is there, empty."""
    state = view.get("state")
    values = object_at(state, "values") if isinstance(state, dict) else {}
    return tuple(
        (action_id, _value(object_at(elements, action_id)))
        for block_id in values
        for elements in (object_at(values, block_id),)
        for action_id in elements
    )


def _value(element: JsonObject) -> str:
    option = element.get("selected_option")
    return text_at(option, "value") if isinstance(option, dict) else text_at(element, "value")
