"""A tool's or agent's request for a person's consent, and its state; nothing here approves anything."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from core.json_types import JsonObject
from core.messaging.messages import FormField
from core.tools.tool import Risk

CANCELLED = "User cancelled this action."
"""The tool result that the model reads for an action that was not approved (seed 13.4)."""


class ConsentState(StrEnum):
    """The state of a request for consent."""

    GRANTED = "granted"
    PENDING = "pending"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Described:
    """An action as a card shows it.

    `details` are in the tool's or agent's own words, `labels` name arguments in words, and `open_for` is the time to
    decide, None for the operator's default.
    """

    summary: str
    details: JsonObject = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    hidden_when_empty: frozenset[str] = frozenset()
    """Optional arguments to hide while empty."""
    form: tuple[FormField, ...] = ()
    open_for: timedelta | None = None
    editable: bool = True
    in_words: frozenset[str] = frozenset()
    """Arguments that the details say in words, in full."""


@dataclass(frozen=True, slots=True)
class ConsentTo:
    """A single, exact action. `call_id` names the call within its turn; `arguments` are the action's only input.

    `describe` returns the card's description of arguments, besides the arguments themselves, and the form to change
    them. `check` takes arguments and changes, and returns the arguments to run with; it raises `core.errors.ToolError`
    with the errors, for the person.
    """

    call_id: str
    name: str
    arguments: JsonObject
    describe: Callable[[JsonObject], Awaitable[Described]]
    check: Callable[[JsonObject, JsonObject], JsonObject]
    risk: Risk = ""
    note: str = ""
    """The reason why consent is asked although it usually is not; shown on the card."""
    question: str = ""
    """An agent's own question. The card shows it in full, and the approval binds it."""
    state: JsonObject = field(default_factory=dict)
    """The state of an agent that asks by itself: its next action depends on this, so the approval binds it too."""
    already_started: bool = False
    """The action started before its approval expired; do not apply the expiry again."""


@dataclass(frozen=True, slots=True)
class Consent:
    """The state of a request for consent.

    `arguments` are the approved arguments, which replace all others. `text` is the tool result while the action may
    not run. `changed` describes the person's changes to the model; empty without changes.
    """

    state: ConsentState
    text: str = ""
    arguments: JsonObject | None = None
    changed: str = ""


def make_call_id(agent_path: str, step: int, call_index: int, name: str = "") -> str:
    """Return the id of a call within its turn; without `name`, the prefix that all requests of the call share."""
    return f"{agent_path}/" * bool(agent_path) + f"{step}.{call_index}/{name}"


def call_order(call_id: str) -> tuple[int, ...]:
    """Return a sort key that puts call ids in the order in which the model made the calls."""
    return tuple(int(number) for number in re.findall(r"(?<![^/.#:])\d+(?![^/.#:])", call_id))
