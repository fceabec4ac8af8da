"""The points at which a process dies with what plugins bring and what is asked, what is expected, the removed writes.

What is expected is said in the words of `outcomes`: what is there in the end, and what the person was told.
"""

from enum import StrEnum

from tests.faults.worded import Struck, WordedMutation, WordedPoint, around, by_name, ends, some_of


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


type ExtensionPoint = WordedPoint[Kind]
type ExtensionMutation = WordedMutation[Kind]

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
    *ends(Kind.SOCKET, _SAID, "the app says it again under its id", *around("receive_messages"), struck=Struck.WEB),
    *ends(Kind.SOCKET, _SAID, "not taken: told again under its id", "passed before", "passed after", struck=Struck.WEB),
    *ends(
        Kind.SOCKET, _SAID, "the worker did not hear it: told again", "taken before", "taken after", struck=Struck.WEB
    ),
    *ends(Kind.SOCKET, _SAID, "an answer that is not written is asked for again", "model before", "model after"),
    *ends(Kind.SOCKET, _SAID, "the turn ends with its answer owed, or not at all", *around("finish_turn")),
    *ends(Kind.SOCKET, _SAID, "told again under its id", "begin_rendered after", "send before", "send after"),
    *ends(Kind.SOCKET, _SAID, "the app has it and did not say so: told again under its id", "send within, accepted"),
    *ends(Kind.SOCKET, _SAID, "told again under its id, or written down", *around("end_delivery")),
    *ends(Kind.PRESSED, _PRESSED, "the app presses again, decided once", *around("receive_press"), struck=Struck.WEB),
    *ends(Kind.PRESSED, _PRESSED, "decided: taken up by another worker", "claim_lane after", "started before"),
    *ends(Kind.PRESSED, "cards 1, acts 0, answers 1, unsure", _BEGUN, "started after"),
    *ends(Kind.PRESSED, _PRESSED, "its end is written down", "result after", *around("finish_turn")),
    *ends(Kind.SENSOR, _MEASURED, "published again at the next start, and known", "service before", "service after"),
    *ends(Kind.SENSOR, _MEASURED, "published again at the next start, and known", *around("publish_event")),
    *ends(Kind.SENSOR, _MEASURED, "the event's lease ends: handled again", "claim_event after", "event before"),
    *ends(Kind.SENSOR, _MEASURED, "handled again, and told once by its key", *around("keep_notification")),
    *ends(Kind.SENSOR, _MEASURED, "handled again, and told once by its key", "event after", *around("end_event")),
    *ends(Kind.SENSOR, _MEASURED, "looked up in the provider's list", "send before", "send after"),
    *ends(Kind.STOPPED, _MEASURED, "a stop ends nothing that others share", "stopping", "stopped"),
    *ends(Kind.SKILL, _USED, "it is read again", "skill before", "skill after", *around("other step")),
    *ends(Kind.SKILL, _USED, "what it led to has not started", "started before"),
    *ends(Kind.SKILL, _NOT_AGAIN, _BEGUN, "started after"),
    *ends(Kind.SKILL, "acts 1, unsure", _BEGUN, "once.acted"),
    *ends(Kind.SKILL, _USED, "its end is written down", "result after", *around("finish_turn")),
    *ends(Kind.OWN_SKILL, _USED, "it is read again", "skill before", "skill after", "other step after"),
    *ends(Kind.ASKED, _ORDERED, "asked with the turn's end, or again", "model after", *around("finish_turn")),
    *ends(Kind.ASKED, _ORDERED, "looked up in the provider's list", "send before", "send after", "end_delivery before"),
    *ends(Kind.ASKED, _ORDERED, "written down: not sent again", "end_delivery after"),
    *ends(Kind.CHOSEN, _ORDERED, _TAKEN_ONCE, *around("receive_choice"), struck=Struck.WEB),
    *ends(Kind.CHOSEN, _ORDERED, "the answers are there: taken up again", "claim_lane after", "started before"),
    *ends(Kind.CHOSEN, _UNORDERED, _BEGUN, "started after", "asked answered"),
    *ends(Kind.CHOSEN, "asked 1, acts 1, unsure", _BEGUN, "once.acted", "result before"),
    *ends(Kind.CHOSEN, _ORDERED, "its end is written down", "result after", *around("finish_turn")),
    *ends(Kind.TYPED, _ORDERED, "it comes again, and is known", *around("receive_messages"), struck=Struck.WEB),
    *ends(Kind.TYPED, _ORDERED, "the answers are there: taken up again", "claim_lane after", "started before"),
    *ends(Kind.TYPED, _UNORDERED, _BEGUN, "asked answered"),
    *ends(Kind.TYPED, _ORDERED, "its end is written down", "result after", *around("finish_turn")),
    *ends(Kind.FIELD, _ORDERED, "the fields are there, or read again", "claim_lane after", *around("finish_turn")),
    *ends(Kind.FIELD, _ORDERED, "it runs again with its key", "field before", "field after"),
    *ends(
        Kind.PROGRAM, _SAID, "repeated under its id", "asking before", *around("receive_messages"), struck=Struck.WEB
    ),
    *ends(
        Kind.PROGRAM,
        _SAID,
        "it is kept: asked again by its id",
        "client_answer after",
        "asking after",
        struck=Struck.WEB,
    ),
    *ends(Kind.PROGRAM, _SAID, "an answer that is not written is asked for again", "model before", "model after"),
    *ends(Kind.PROGRAM, _SAID, "the turn ends with its answer owed, or not at all", *around("finish_turn")),
    *ends(Kind.PROGRAM, _SAID, "read once it is written down", "send before", "send after", *around("end_delivery")),
    *ends(
        Kind.PIPES, _SAID, "repeated under its id", "asking before", *around("receive_messages"), struck=Struck.SERVER
    ),
    *ends(Kind.PIPES, _SAID, "it is kept: asked again by its id", "asking after", struck=Struck.SERVER),
    *ends(
        Kind.CONSENT, "cards 1, acts 1, told 2, acted", "approved: taken up again", "claim_lane after", "started before"
    ),
    *ends(Kind.CONSENT, "cards 1, acts 0, told 2, unsure", _BEGUN, "started after"),
    *ends(
        Kind.CONSENT,
        "cards 1, acts 1, told 2, acted",
        "its end is written down",
        "result after",
        *around("finish_turn"),
    ),
)
BY_NAME = by_name(POINTS)

MUTATIONS: tuple[ExtensionMutation, ...] = (
    WordedMutation("inbox keys", BY_NAME[Kind.SOCKET, "receive_messages after"]),
    WordedMutation("inbox keys", BY_NAME[Kind.PROGRAM, "receive_messages after"]),
    WordedMutation("outbound", BY_NAME[Kind.PROGRAM, "finish_turn after"]),
    WordedMutation("notice keys", BY_NAME[Kind.SENSOR, "event after"]),
    WordedMutation("receive_choice", BY_NAME[Kind.CHOSEN, "receive_choice unknown"]),
    WordedMutation("result", BY_NAME[Kind.SKILL, "result after"]),
    WordedMutation("started", BY_NAME[Kind.SKILL, "once.acted"]),
)
"""Each removes one protecting write, or what a write is known by."""
SHORT = some_of(
    BY_NAME,
    {
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
    },
)
"""What the suite runs of them."""
