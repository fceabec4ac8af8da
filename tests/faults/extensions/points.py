"""The points at which a process dies with what plugins bring and what is asked, what is expected, the removed writes.

What is expected is said in the words of `outcomes`: what is there in the end, and what the person was told.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What somebody wants. Each value is the word that ends their text."""

    SOCKET = "socket"
    """An app of the person's own writes over a plugin's channel."""
    PRESSED = "pressed"
    """There, a button of a card is pressed."""
    SENSOR = "sensor"
    """A plugin's service publishes an event when it starts, and tells the person of it."""
    STOPPED = "stopped"
    """The same, and its worker dies while it stops."""
    SKILL = "skilled"
    """A skill of the operator's is used."""
    OWN_SKILL = "ownskill"
    """A skill of the person's own is used."""
    ASKED = "asked"
    """A tool asks two questions."""
    CHOSEN = "chosen"
    """They are answered by buttons."""
    TYPED = "typed"
    """They are answered by their numbers."""
    FIELD = "field"
    """The fields of an agent have choices, and are answered by their numbers."""
    PROGRAM = "program"
    """A program asks by MCP, over HTTP."""
    PIPES = "pipes"
    """A program starts the MCP server as a process of its own."""
    CONSENT = "programcard"
    """A program asks for what needs consent; the person approves it in their own chat."""


class Struck(StrEnum):
    """The process that dies."""

    WEB = "web"
    WORKER = "worker"
    SERVER = "server"
    """The MCP server that a program started."""


@dataclass(frozen=True, slots=True)
class ExtensionPoint:
    """Where a process dies (or loses an answer), and what there may be in the end."""

    kind: Kind
    name: str
    expected: tuple[str, ...]
    why: str
    struck: Struck = Struck.WORKER


@dataclass(frozen=True, slots=True)
class ExtensionMutation:
    """A write that is removed, at a point whose expectation must then be missed."""

    drop: str
    point: ExtensionPoint


def _all(
    kind: Kind, expected: str, why: str, *names: str, struck: Struck = Struck.WORKER
) -> tuple[ExtensionPoint, ...]:
    return tuple(ExtensionPoint(kind, name, (expected,), why, struck) for name in names)


def _around(name: str) -> tuple[str, ...]:
    return f"{name} before", f"{name} after", f"{name} unknown"


WITH_WORKER = ("passed before", "passed after", "taken before", "taken after")
"""Points of the web process for which a worker must be at work."""

_SAID = "rows 1, answers 1, acted"
_PRESSED = "cards 1, acts 1, answers 1, acted"
_MEASURED = "events 1, told 1"
_USED = "acts 1, acted"
_NOT_AGAIN = "acts 0, unsure"
_ORDERED = "asked 1, acts 1, acted"
_UNORDERED = "asked 1, acts 0, unsure"
_BEGUN = "it had started: not run again, and told"
_TAKEN_ONCE = "a repeat of the press is known, and the first answer counts"

POINTS: tuple[ExtensionPoint, ...] = (
    *_all(Kind.SOCKET, _SAID, "the app says it again under its id", *_around("receive_messages"), struck=Struck.WEB),
    *_all(Kind.SOCKET, _SAID, "not taken: told again under its id", "passed before", "passed after", struck=Struck.WEB),
    *_all(
        Kind.SOCKET, _SAID, "the worker did not hear it: told again", "taken before", "taken after", struck=Struck.WEB
    ),
    *_all(Kind.SOCKET, _SAID, "an answer that is not written is asked for again", "model before", "model after"),
    *_all(Kind.SOCKET, _SAID, "the turn ends with its answer owed, or not at all", *_around("finish_turn")),
    *_all(Kind.SOCKET, _SAID, "told again under its id", "begin_rendered after", "send before", "send after"),
    *_all(Kind.SOCKET, _SAID, "the app has it and did not say so: told again under its id", "send within, accepted"),
    *_all(Kind.SOCKET, _SAID, "told again under its id, or written down", *_around("end_delivery")),
    *_all(Kind.PRESSED, _PRESSED, "the app presses again, decided once", *_around("receive_press"), struck=Struck.WEB),
    *_all(Kind.PRESSED, _PRESSED, "decided: taken up by another worker", "claim_lane after", "started before"),
    *_all(Kind.PRESSED, "cards 1, acts 0, answers 1, unsure", _BEGUN, "started after"),
    *_all(Kind.PRESSED, _PRESSED, "its end is written down", "result after", *_around("finish_turn")),
    *_all(Kind.SENSOR, _MEASURED, "published again at the next start, and known", "service before", "service after"),
    *_all(Kind.SENSOR, _MEASURED, "published again at the next start, and known", *_around("publish_event")),
    *_all(Kind.SENSOR, _MEASURED, "the event's lease ends: handled again", "claim_event after", "event before"),
    *_all(Kind.SENSOR, _MEASURED, "handled again, and told once by its key", *_around("keep_notification")),
    *_all(Kind.SENSOR, _MEASURED, "handled again, and told once by its key", "event after", *_around("end_event")),
    *_all(Kind.SENSOR, _MEASURED, "looked up in the provider's list", "send before", "send after"),
    *_all(Kind.STOPPED, _MEASURED, "a stop ends nothing that others share", "stopping", "stopped"),
    *_all(Kind.SKILL, _USED, "it is read again", "skill before", "skill after", *_around("other step")),
    *_all(Kind.SKILL, _USED, "what it led to has not started", "started before"),
    *_all(Kind.SKILL, _NOT_AGAIN, _BEGUN, "started after"),
    *_all(Kind.SKILL, "acts 1, unsure", _BEGUN, "once.acted"),
    *_all(Kind.SKILL, _USED, "its end is written down", "result after", *_around("finish_turn")),
    *_all(Kind.OWN_SKILL, _USED, "it is read again", "skill before", "skill after", "other step after"),
    *_all(Kind.ASKED, _ORDERED, "asked with the turn's end, or again", "model after", *_around("finish_turn")),
    *_all(Kind.ASKED, _ORDERED, "looked up in the provider's list", "send before", "send after", "end_delivery before"),
    *_all(Kind.ASKED, _ORDERED, "written down: not sent again", "end_delivery after"),
    *_all(Kind.CHOSEN, _ORDERED, _TAKEN_ONCE, *_around("receive_choice"), struck=Struck.WEB),
    *_all(Kind.CHOSEN, _ORDERED, "the answers are there: taken up again", "claim_lane after", "started before"),
    *_all(Kind.CHOSEN, _UNORDERED, _BEGUN, "started after", "asked answered"),
    *_all(Kind.CHOSEN, "asked 1, acts 1, unsure", _BEGUN, "once.acted", "result before"),
    *_all(Kind.CHOSEN, _ORDERED, "its end is written down", "result after", *_around("finish_turn")),
    *_all(Kind.TYPED, _ORDERED, "it comes again, and is known", *_around("receive_messages"), struck=Struck.WEB),
    *_all(Kind.TYPED, _ORDERED, "the answers are there: taken up again", "claim_lane after", "started before"),
    *_all(Kind.TYPED, _UNORDERED, _BEGUN, "asked answered"),
    *_all(Kind.TYPED, _ORDERED, "its end is written down", "result after", *_around("finish_turn")),
    *_all(Kind.FIELD, _ORDERED, "the fields are there, or read again", "claim_lane after", *_around("finish_turn")),
    *_all(Kind.FIELD, _ORDERED, "it runs again with its key", "field before", "field after"),
    *_all(
        Kind.PROGRAM, _SAID, "repeated under its id", "asking before", *_around("receive_messages"), struck=Struck.WEB
    ),
    *_all(
        Kind.PROGRAM,
        _SAID,
        "it is kept: asked again by its id",
        "client_answer after",
        "asking after",
        struck=Struck.WEB,
    ),
    *_all(Kind.PROGRAM, _SAID, "an answer that is not written is asked for again", "model before", "model after"),
    *_all(Kind.PROGRAM, _SAID, "the turn ends with its answer owed, or not at all", *_around("finish_turn")),
    *_all(Kind.PROGRAM, _SAID, "read once it is written down", "send before", "send after", *_around("end_delivery")),
    *_all(
        Kind.PIPES, _SAID, "repeated under its id", "asking before", *_around("receive_messages"), struck=Struck.SERVER
    ),
    *_all(Kind.PIPES, _SAID, "it is kept: asked again by its id", "asking after", struck=Struck.SERVER),
    *_all(
        Kind.CONSENT, "cards 1, acts 1, told 2, acted", "approved: taken up again", "claim_lane after", "started before"
    ),
    *_all(Kind.CONSENT, "cards 1, acts 0, told 2, unsure", _BEGUN, "started after"),
    *_all(
        Kind.CONSENT,
        "cards 1, acts 1, told 2, acted",
        "its end is written down",
        "result after",
        *_around("finish_turn"),
    ),
)
BY_NAME = {(point.kind, point.name): point for point in POINTS}

MUTATIONS: tuple[ExtensionMutation, ...] = (
    ExtensionMutation("inbox keys", BY_NAME[Kind.SOCKET, "receive_messages after"]),
    ExtensionMutation("inbox keys", BY_NAME[Kind.PROGRAM, "receive_messages after"]),
    ExtensionMutation("outbound", BY_NAME[Kind.PROGRAM, "finish_turn after"]),
    ExtensionMutation("notice keys", BY_NAME[Kind.SENSOR, "event after"]),
    ExtensionMutation("receive_choice", BY_NAME[Kind.CHOSEN, "receive_choice unknown"]),
    ExtensionMutation("result", BY_NAME[Kind.SKILL, "result after"]),
    ExtensionMutation("started", BY_NAME[Kind.SKILL, "once.acted"]),
)
"""Each removes one protecting write, or what a write is known by."""
SHORT = tuple(
    BY_NAME[kind, name]
    for kind, names in {
        Kind.SOCKET: ("receive_messages after", "send within, accepted"),
        Kind.PRESSED: ("receive_press after",),
        Kind.SENSOR: ("publish_event after", "event after"),
        Kind.STOPPED: ("stopping",),
        Kind.SKILL: ("skill after",),
        Kind.ASKED: ("finish_turn after",),
        Kind.CHOSEN: ("receive_choice after",),
        Kind.TYPED: ("claim_lane after",),
        Kind.FIELD: ("field after",),
        Kind.PROGRAM: ("asking after", "finish_turn after"),
        Kind.CONSENT: ("started after",),
    }.items()
    for name in names
)
"""What the suite runs of them."""
