"""Checks of a scenario's steps. docs/testing.md describes the format."""

import binascii
from collections.abc import Mapping
from typing import Any

from core.people.access_policy import PersonRole
from workbench.scenarios.reactions import NAMES
from workbench.scenarios.steps import (
    CHANNELS,
    GROUP,
    MAIL,
    ONLY_ON,
    SURFACES,
    ScenarioError,
    Step,
    channel_in,
    parse_step,
    texts_in,
)
from workbench.simulator.twilio.delivery import CALLBACK_MODES, PHONE_MODES

BREAKS = ("worker", "web", "postgres", "redis", "model fails", "model hangs", "model works")
"""Values of `break`; the last puts the model right again."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "open": ("home", "messages"),
    "close": ("form",),
    "phone": tuple(PHONE_MODES),
    "callbacks": CALLBACK_MODES,
    "break": BREAKS,
}
"""The possible values of these steps."""
MOST_AGAIN = 20
"""Messages that a provider delivers again at most."""


def read_step(number: int, values: object) -> Step:
    """Return a step from its table; raise `ScenarioError`, which names its number."""
    step = parse_step(number, values)
    try:
        _check(step)
    except ScenarioError as error:
        raise ScenarioError(f"Step {number}: {error}") from None
    return step


def _check(step: Step) -> None:
    _check_options(step)
    match step.verb:
        case "location" | "move":
            _check_place(step.verb, step.value)
        case "react":
            _check_reaction(step)
        case "contact":
            _check_contact(step.value)
        case "calls":
            _check_calls(step.value)
        case "expect":
            _needs_texts(step.value, "`expect`")
            texts_in(step.options.get("buttons", []), "`buttons`")
        case _:
            _check_value(step)


def _check_value(step: Step) -> None:
    """Check a step with a single value."""
    match step.verb:
        case "advance":
            step.span  # noqa: B018 - it raises if it is none
        case "silence":
            _needs_seconds(step.value, "`silence`")
        case "fill":
            _needs_table(step.value, "`fill`")
        case "delete":
            _needs_texts(step.value, "`delete`")
        case "block":
            _needs_truth(step.value, "`block`")
        case "unshare":
            if step.value is not True:
                raise ScenarioError("`unshare` is true.")
        case "redeliver":
            _needs_number(step.value)
        case "answer":
            if not isinstance(step.value, str):
                raise ScenarioError("`answer` is a text.")
        case _:
            _needs_text(step)
            _check_more(step)


def _check_more(step: Step) -> None:
    """Check the options of a step with a text."""
    match step.verb:
        case "call" | "event":
            _needs_table(step.options.get("with", {}), "`with`")
        case "file":
            _check_content(step)
            if "voice" in step.options:
                _needs_seconds(step.options["voice"], "`voice`")
            if "says" in step.options:
                _needs_texts(step.options["says"], "`says`")
        case "open" | "close" | "phone" | "callbacks" | "break":
            known = CHOICES[step.verb]
            if step.value not in known:
                raise ScenarioError(f"`{step.verb}` must be one of {', '.join(known)}.")
        case "admit":
            _needs_role(step.options.get("role", PersonRole.MEMBER))


def _check_options(step: Step) -> None:
    reads_mail = step.verb in ("expect", "silence") and step.options.get("channel") == MAIL
    if "channel" in step.options and not reads_mail:
        channel_in(step.options["channel"], "`channel`")
        only = ONLY_ON.get(step.verb, CHANNELS)
        if step.options["channel"] not in only:
            raise ScenarioError(f"`{step.verb}` is for {' and '.join(only)} only.")
    places = {"send": (GROUP,), "expect": (*SURFACES, GROUP)}.get(step.verb, SURFACES)
    if step.options.get("on", places[0]) not in places:
        raise ScenarioError(f"`on` must be one of {', '.join(places)}.")
    _needs_truth(step.options.get("mention", True), "`mention`")
    if "mention" in step.options and "on" not in step.options:
        raise ScenarioError("`mention` is for a group.")
    if step.verb == "send" and {"on", "reply_to"} <= step.options.keys():
        raise ScenarioError("`reply_to` is not for a group.")
    if "menu" in step.options and not isinstance(step.options["menu"], str):
        raise ScenarioError("`menu` is a text.")
    for name in ("reply_to", "message"):
        if name in step.options:
            _needs_texts(step.options[name], f"`{name}`")
    if "pause" in step.options and step.options["pause"] != 0:
        _needs_seconds(step.options["pause"], "`pause`")
    if "within" in step.options:
        _needs_seconds(step.options["within"], "`within`")


def _check_reaction(step: Step) -> None:
    if step.value not in NAMES:
        raise ScenarioError(f"`react` must be one of {', '.join(NAMES)}.")
    _needs_truth(step.options.get("taken_back", False), "`taken_back`")


def _check_place(verb: str, value: object) -> None:
    _needs_table(value, f"`{verb}`")
    place: Mapping[str, Any] = value if isinstance(value, dict) else {}
    known = {"latitude", "longitude", "accuracy"} | ({"title", "address", "live"} if verb == "location" else set())
    if strange := sorted(place.keys() - known):
        raise ScenarioError(f"a location has no {strange[0]!r}.")
    if "accuracy" in place:
        _needs_seconds(place["accuracy"], "`accuracy` of a location", "metres")
    if "live" in place and (isinstance(place["live"], bool) or not isinstance(place["live"], int)):
        raise ScenarioError("`live` of a location is a whole number of seconds.")
    for name, most in (("latitude", 90), ("longitude", 180)):
        degrees = place.get(name)
        if isinstance(degrees, bool) or not isinstance(degrees, int | float) or not -most <= degrees <= most:
            raise ScenarioError(f"`{name}` of a location is a number of degrees from -{most} to {most}.")
    if "live" in place and "title" in place:
        raise ScenarioError("a location with a `title` is not shared live.")
    if ("title" in place) != ("address" in place):
        raise ScenarioError("a location has both `title` and `address`, or neither.")


def _check_contact(value: object) -> None:
    _needs_table(value, "`contact`")
    card: Mapping[str, Any] = value if isinstance(value, dict) else {}
    if strange := sorted(card.keys() - {"first_name", "last_name", "phone_number", "vcard"}):
        raise ScenarioError(f"a contact has no {strange[0]!r}.")
    if not all(isinstance(card.get(name), str) and card[name] for name in ("first_name", "phone_number")):
        raise ScenarioError("a contact needs `first_name` and `phone_number`.")


def _check_calls(value: object) -> None:
    if not isinstance(value, list) or not value:
        raise ScenarioError("`calls` is a list of tables, each with a `name` and perhaps `with`.")
    for one in value:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str) or one.keys() - {"name", "with"}:
            raise ScenarioError("`calls` is a list of tables, each with a `name` and perhaps `with`.")
        _needs_table(one.get("with", {}), "`with`")


def _check_content(step: Step) -> None:
    if ("content" in step.options) == ("base64" in step.options):
        raise ScenarioError("a file has either `content`, which is a text, or `base64`.")
    try:
        step.data  # noqa: B018 - it raises if it is none
    except (ValueError, binascii.Error):
        raise ScenarioError("`base64` cannot be decoded.") from None


def _needs_text(step: Step) -> None:
    if not isinstance(step.value, str) or not step.value:
        raise ScenarioError(f"`{step.verb}` is a text.")


def _needs_texts(value: object, what: str) -> None:
    texts_in([value] if isinstance(value, str) else value, what)


def _needs_truth(value: object, what: str) -> None:
    if not isinstance(value, bool):
        raise ScenarioError(f"{what} is true or false.")


def _needs_number(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_AGAIN:
        raise ScenarioError(f"`redeliver` is a number from 1 to {MOST_AGAIN}.")


def _needs_table(value: object, what: str) -> None:
    if not isinstance(value, dict):
        raise ScenarioError(f"{what} is a table.")


def _needs_role(value: object) -> None:
    if value not in set(PersonRole):
        raise ScenarioError(f"`role` is one of {', '.join(PersonRole)}.")


def _needs_seconds(value: object, what: str, unit: str = "seconds") -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ScenarioError(f"{what} is a number of {unit}.")
