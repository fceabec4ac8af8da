"""Presses and submitted modals: typed here, for approvals to take; pure.

Source of the shapes: docs.slack.dev, reference/interaction-payloads.
"""

from dataclasses import dataclass

from channels.slack.fields import CHANNEL, TOKEN, TS, USER, WORD, name_at, object_at, objects_at, optional_name, text_at
from channels.slack.message import CHANNEL_NAME
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.messages import Address, IgnoredMessage, IgnoreReason


@dataclass(frozen=True, slots=True)
class Press:
    """A button pressed. `address` is where its message stands; empty `message_ts`: in a modal or App Home.

    `value` is what the button carried, and proves nothing by itself. `response_url` is a secret: it writes
    into the conversation past all permissions, five times in 30 minutes. `trigger_id` opens one modal within 3 s.
    """

    address: Address
    user: str
    action_id: str
    action_ts: str
    value: str = ""
    message_ts: str = ""
    view_id: str = ""
    trigger_id: str = ""
    response_url: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Give the dedupe key: Slack gives presses no id."""
        return (f"action:{self.action_ts}:{self.user}:{self.action_id}",)


@dataclass(frozen=True, slots=True)
class Entered:
    """One field of a modal with what was entered."""

    block_id: str
    action_id: str
    value: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A modal sent. `private_metadata` is what we put into it when it was opened."""

    address: Address
    user: str
    view_id: str
    hash: str
    callback_id: str
    private_metadata: str = ""
    entered: tuple[Entered, ...] = ()
    trigger_id: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Give the dedupe key: the hash changes with each state of the view."""
        return (f"view:{self.view_id}:{self.hash}",)


type Gesture = Press | Submission


def read_press(payload: JsonObject, team: str) -> Press:
    """Read a block_actions payload. Raises `RequestRefused`."""
    user = name_at(object_at(payload, "user"), "id", USER)
    actions = objects_at(payload, "actions")
    if not actions:
        raise RequestRefused("actions are missing")
    action, container = actions[0], object_at(payload, "container")
    channel = optional_name(container, "channel_id", CHANNEL)
    return Press(
        address=Address(CHANNEL_NAME, team, channel or user, optional_name(container, "thread_ts", TS)),
        user=user,
        action_id=name_at(action, "action_id", TOKEN),
        action_ts=name_at(action, "action_ts", TS),
        value=_value(action),
        message_ts=optional_name(container, "message_ts", TS),
        view_id=optional_name(container, "view_id", TOKEN),
        trigger_id=text_at(payload, "trigger_id"),
        response_url=text_at(payload, "response_url"),
    )


def read_submission(payload: JsonObject, team: str) -> Submission:
    """Read a view_submission payload. Raises `RequestRefused`."""
    user = name_at(object_at(payload, "user"), "id", USER)
    view = object_at(payload, "view")
    name_at(view, "type", WORD)
    if "callback_id" not in view:
        raise RequestRefused("callback_id is missing")
    return Submission(
        address=Address(CHANNEL_NAME, team, user),
        user=user,
        view_id=name_at(view, "id", TOKEN),
        hash=name_at(view, "hash", TOKEN),
        callback_id=text_at(view, "callback_id"),
        private_metadata=text_at(view, "private_metadata"),
        entered=_entered(view),
        trigger_id=text_at(payload, "trigger_id"),
    )


def as_ignored(gesture: Gesture) -> IgnoredMessage:
    """Record a gesture that nothing asked for."""
    return IgnoredMessage(gesture.address, gesture.user, gesture.keys, IgnoreReason.UNSUPPORTED)


def _entered(view: JsonObject) -> tuple[Entered, ...]:
    state = view.get("state")
    values = object_at(state, "values") if isinstance(state, dict) else {}
    return tuple(
        Entered(block_id, action_id, _value(object_at(elements, action_id)))
        for block_id in values
        for elements in (object_at(values, block_id),)
        for action_id in elements
    )


def _value(element: JsonObject) -> str:
    option = element.get("selected_option")
    return text_at(option, "value") if isinstance(option, dict) else text_at(element, "value")
