"""The points at which a process dies with people's accounts, what is expected of each, and the removed writes.

What is expected is said in the words of `outcomes`: what is there in the end, and what the person was told.
"""

from enum import StrEnum

from tests.faults.worded import Struck, WordedMutation, WordedPoint, around, by_name, ends, some_of


class Kind(StrEnum):
    """What a person wants of their accounts. Each value is the word that ends their text."""

    POST = "post"
    """An email is sent, by a server that stores no copy."""
    POST_FILED = "filed"
    """An email is sent, by a server that stores what it sends."""
    REPLY = "reply"
    """A mail is answered, by a server that stores no copy."""
    FORWARD = "forward"
    """A mail is passed on, likewise."""
    CREATE = "create"
    MOVE = "move"
    PART = "part"
    """A series changes from one day on."""
    CANCEL = "cancel"
    ACCEPT = "accept"
    IMPORT = "import"
    UNDO = "undo"
    """A new event is undone; the following are undone likewise, each by one word."""
    UNDO_MOVE = "remove"
    UNDO_CARD = "uncard"
    UNDO_CONTACT = "unknow"
    UNDO_PREFERENCE = "unprefer"
    UNDO_STOP = "restart"
    """A reminder was stopped."""
    UNDO_CHANGE = "rechange"
    """A reminder was changed."""
    PREFER = "prefer"
    """A preference is changed, and must be offered to be undone."""
    STOP = "stop"
    """A reminder is stopped, likewise."""
    CHANGE = "change"
    """A reminder is changed, likewise."""
    INVITE = "invite"
    """An event is created, and its guest is invited by mail."""
    UNINVITE = "uninvite"
    """An event is cancelled, and its guest is told by mail."""
    MESSAGE = "message"
    """Somebody else is written to by SMS."""
    CARD = "card"
    """Somebody is put into an address book."""
    STRICT = "strict"
    """Mail is searched with a token that has run out, of a server that ends a grant whose token comes twice."""
    LENIENT = "lenient"
    HELD = "held"
    """Mail is searched without an account, which is connected later."""
    CONNECT = "connect"
    """Mail is searched without an account, which is connected by the link."""
    WATCH = "watch"
    """A task waits for new mail."""
    LETTER = "letter"
    """A mail to the assistant is taken in."""
    ANSWER = "answer"
    """A mail to the assistant is answered."""
    SWITCH = "switch"
    """A tool of an MCP server is called that acts."""
    SKILL = "skill"
    """A skill is kept."""


APPROVED = frozenset(
    {
        Kind.POST,
        Kind.POST_FILED,
        Kind.REPLY,
        Kind.FORWARD,
        Kind.PART,
        Kind.CANCEL,
        Kind.ACCEPT,
        Kind.IMPORT,
        Kind.INVITE,
        Kind.UNINVITE,
        Kind.MESSAGE,
        Kind.SWITCH,
        Kind.SKILL,
    }
)
"""What asks for consent first."""
UNDONE = {
    Kind.UNDO: Kind.CREATE,
    Kind.UNDO_MOVE: Kind.MOVE,
    Kind.UNDO_CARD: Kind.CARD,
    Kind.UNDO_CONTACT: Kind.UNDO_CONTACT,
    Kind.UNDO_PREFERENCE: Kind.PREFER,
    Kind.UNDO_STOP: Kind.STOP,
    Kind.UNDO_CHANGE: Kind.CHANGE,
}
"""What is undone, and by what it was done."""


type AccountPoint = WordedPoint[Kind]
type AccountMutation = WordedMutation[Kind]


def _back(kind: Kind, expected: str, write: str) -> tuple[AccountPoint, ...]:
    """Return the points of an undo, by the name of what it writes."""
    names = ("take_undo after", f"{write} before", f"{write} after", "end_undo before", "end_undo after")
    return ends(kind, f"{expected}, undone 1", _UNDONE, *names)


_SENT = "mails 1, copies 1, acted"
_UNKNOWN = "it may have left: the sent mail proves nothing here, so it is not sent again, and told"
_FOUND = "looked up among the sent mail, and sent where it is not there"
_WRITTEN = "the event is known by the call that made it: written once"
_INVITED = "events 1 20310505T100000, mails 1, copies 1, acted"
_TOLD = "events 0, mails 1, copies 1, acted"
_MAILED = "the event is known by the call that made it; the mail about it goes out then"
_TEXTED = "texts 1, acted"
_UNDONE = "the call that takes back has a row of its own: taken back once, and told"
_OFFERED = "what was before is stored before or with the change: done once, and one undo is offered"
_ASKED_AGAIN = "the token of before is asked with again"
_LOOKED = "links 0, acted"
_RENEWED = "links 1, acted"
_LOST = "the server takes the token of before for stolen: told with a link to renew, and it goes on from there"
_CONNECTED = "accounts 1, told 1, acted"
_ONCE_MORE = "nothing is connected: the link still serves its browser, and a second try connects"
_STORED = "the account, its link's end and the chat's notice are one write"
_TAKEN = "rows 1, answers 1"
_SWITCHED = "calls 1, acted"
_NOT_AGAIN = "it had started: the server is not asked again, and the person is told"
_KEPT = "versions 1, acted"

POINTS: tuple[AccountPoint, ...] = (
    *ends(Kind.POST, _SENT, "nothing had left", "address after", "put_value before"),
    *ends(Kind.POST, "mails 0, copies 0, unsure", _UNKNOWN, "put_value after", "data before"),
    *ends(Kind.POST, "mails 1, copies 0, unsure", _UNKNOWN, "data within", "data after"),
    *ends(Kind.POST, _SENT, "sent is written down: only the copy is missing", "copy before"),
    *ends(Kind.POST, _SENT, "the copy is looked up before it is stored", "copy after"),
    *ends(Kind.POST, _SENT, "its end is written down: not run again", "finish_turn before", "finish_turn after"),
    *ends(Kind.POST_FILED, _SENT, _FOUND, "data before", "data within", "data after"),
    *ends(Kind.REPLY, f"{_SENT}, in its thread", "nothing had left", "address after"),
    *ends(Kind.REPLY, "mails 0, copies 0, unsure, in no thread", _UNKNOWN, "data before"),
    *ends(Kind.REPLY, "mails 1, copies 0, unsure, in its thread", _UNKNOWN, "data within", "data after"),
    *ends(Kind.REPLY, f"{_SENT}, in its thread", "the copy is looked up before it is stored", "copy after"),
    *ends(Kind.REPLY, f"{_SENT}, in its thread", "its end is written down: not run again", "finish_turn after"),
    *ends(Kind.FORWARD, _SENT, "nothing had left", "address after"),
    *ends(Kind.FORWARD, "mails 0, copies 0, unsure", _UNKNOWN, "data before"),
    *ends(Kind.FORWARD, "mails 1, copies 0, unsure", _UNKNOWN, "data within", "data after"),
    *ends(Kind.FORWARD, _SENT, "the copy is looked up before it is stored", "copy after"),
    *ends(Kind.FORWARD, _SENT, "its end is written down: not run again", "finish_turn after"),
    *ends(
        Kind.CREATE, "events 1 20310505T100000, acted", _WRITTEN, "put_value after", "write 1 before", "write 1 after"
    ),
    *ends(Kind.MOVE, "events 1 20310506T100000, acted", _WRITTEN, "put_value after", "write 1 before", "write 1 after"),
    *ends(
        Kind.PART,
        "events 2 20310505T100000 20310519T110000, occurrences 6, acted",
        "what is new is written first; a repeat finds it, and shortens the old series",
        "write 1 before",
        "write 1 after",
        "write 2 before",
        "write 2 after",
    ),
    *ends(Kind.CANCEL, "events 0, acted", "one that is gone stays so", "write 1 before", "write 1 after"),
    *ends(Kind.ACCEPT, "events 1 20310505T100000 ACCEPTED, acted", _WRITTEN, "write 1 before", "write 1 after"),
    *ends(
        Kind.IMPORT,
        "events 2 20310505T100000 20310512T100000, acted",
        "those that are there already are known by their UIDs",
        "write 1 after",
        "write 2 before",
        "write 2 after",
    ),
    *ends(Kind.UNDO, "events 0, undone 1", _UNDONE, "take_undo after", "write 1 before", "write 1 after"),
    *ends(Kind.UNDO, "events 0, undone 1", _UNDONE, "end_undo before", "end_undo after", "end_undo unknown"),
    *ends(Kind.INVITE, _INVITED, _MAILED, "write 1 before", "write 1 after", "address after", "put_value before"),
    *ends(
        Kind.INVITE, "events 1 20310505T100000, mails 0, copies 0, unsure", _UNKNOWN, "put_value after", "data before"
    ),
    *ends(Kind.INVITE, "events 1 20310505T100000, mails 1, copies 0, unsure", _UNKNOWN, "data within", "data after"),
    *ends(Kind.INVITE, _INVITED, "sent is written down: only the copy is missing", "copy before", "copy after"),
    *ends(Kind.INVITE, _INVITED, "its end is written down: not run again", "finish_turn before", "finish_turn after"),
    *ends(Kind.UNINVITE, _TOLD, "the object as it was stands on the plan", "write 1 after", "address after"),
    *ends(Kind.UNINVITE, "events 0, mails 1, copies 0, unsure", _UNKNOWN, "data after"),
    *_back(Kind.UNDO_MOVE, "events 1 20310505T100000", "write 1"),
    *_back(Kind.UNDO_CARD, "cards 0", "write 1"),
    *_back(Kind.UNDO_CONTACT, "contacts 0", "delete_value"),
    *_back(Kind.UNDO_PREFERENCE, "Europe/Berlin", "keep_preferences"),
    *_back(Kind.UNDO_STOP, "ACTIVE 2031-05-05T10:00", "change_task"),
    *_back(Kind.UNDO_CHANGE, "ACTIVE 2031-05-05T10:00", "edit_task"),
    *ends(Kind.PREFER, "Europe/Lisbon, undo to Europe/Berlin, acted", _OFFERED, *around("change_preferences")),
    *ends(Kind.STOP, "COMPLETED 2031-05-05T10:00, undo to true, acted", _OFFERED, *around("change_task")),
    *ends(Kind.CHANGE, "ACTIVE 2031-05-06T10:00, undo to 2031-05-05T10:00, acted", _OFFERED, *around("edit_task")),
    *ends(
        Kind.MESSAGE,
        _TEXTED,
        "its row follows from the call: queued once",
        "send_outreach before",
        "send_outreach after",
        "send_outreach unknown",
        "finish_turn before",
        "finish_turn after",
    ),
    *ends(
        Kind.MESSAGE, _TEXTED, "looked up in the provider's list", "send before", "send after", "end_delivery before"
    ),
    *ends(Kind.MESSAGE, _TEXTED, "written down: not sent again", "end_delivery after"),
    *ends(
        Kind.CARD,
        "cards 1, acted",
        "the card's address follows from the call: written once",
        "write 1 before",
        "write 1 after",
        "finish_turn before",
    ),
    *ends(Kind.STRICT, _LOOKED, "the server was not asked yet", "begin_refresh before", "begin_refresh after"),
    *ends(Kind.STRICT, _RENEWED, _LOST, "token within", "token after", "end_refresh before"),
    *ends(Kind.STRICT, _LOOKED, "the new token is stored", "end_refresh after", "end_refresh unknown"),
    *ends(Kind.LENIENT, _LOOKED, _ASKED_AGAIN, "token within", "token after", "end_refresh before"),
    *ends(
        Kind.HELD,
        _RENEWED,
        "the call waits, also while Redis loses all, and goes on once",
        "keep_connect_link after",
        "finish_turn before",
        "finish_turn after",
    ),
    *ends(
        Kind.CONNECT,
        _CONNECTED,
        _ONCE_MORE,
        "begin_connect after",
        "granted before",
        "granted after",
        struck=Struck.WEB,
    ),
    *ends(Kind.CONNECT, _CONNECTED, _ONCE_MORE, "finish_connect before", struck=Struck.WEB),
    *ends(Kind.CONNECT, _CONNECTED, _STORED, "finish_connect after", "finish_connect unknown", struck=Struck.WEB),
    *ends(Kind.WATCH, "events 1, told 1", "the position is not moved: read again", "watch opened", "watch found"),
    *ends(Kind.WATCH, "events 1, told 1", "events and position are one write", "watch read", "take_mail before"),
    *ends(Kind.WATCH, "events 1, told 1", "the same", "take_mail after", "take_mail unknown", "watch told"),
    *ends(
        Kind.LETTER,
        _TAKEN,
        "the position is not moved: read again",
        "letter opened",
        "letter before",
        struck=Struck.WEB,
    ),
    *ends(
        Kind.LETTER,
        _TAKEN,
        "read again, and known",
        "receive_messages before",
        "receive_messages after",
        struck=Struck.WEB,
    ),
    *ends(
        Kind.LETTER, _TAKEN, "the same", "receive_messages unknown", "letter after", "position after", struck=Struck.WEB
    ),
    *ends(Kind.ANSWER, _TAKEN, "looked up among the sent mail", "send before", "send after", "end_delivery before"),
    *ends(Kind.ANSWER, _TAKEN, "written down: not sent again", "end_delivery after"),
    *ends(Kind.SWITCH, _SWITCHED, "nothing had started", "started before"),
    *ends(Kind.SWITCH, "calls 0, unsure", _NOT_AGAIN, "started after", "mcp before", "mcp checked"),
    *ends(Kind.SWITCH, "calls 1, unsure", _NOT_AGAIN, "mcp after", "result before"),
    *ends(Kind.SWITCH, _SWITCHED, "its end is written down", "result after", "finish_turn before", "finish_turn after"),
    *ends(Kind.SKILL, _KEPT, "the version is known by the call that made it", *around("put_value")),
    *ends(Kind.SKILL, _KEPT, "its end is written down", "finish_turn before", "finish_turn after"),
)
BY_NAME = by_name(POINTS)

MUTATIONS: tuple[AccountMutation, ...] = (
    WordedMutation("put_value", BY_NAME[Kind.POST, "data after"]),
    WordedMutation("put_value", BY_NAME[Kind.INVITE, "data after"]),
    WordedMutation("put_value", BY_NAME[Kind.MOVE, "write 1 after"]),
    WordedMutation("put_value", BY_NAME[Kind.CHANGE, "edit_task after"]),
    WordedMutation("event keys", BY_NAME[Kind.CREATE, "write 1 after"]),
    WordedMutation("started", BY_NAME[Kind.SWITCH, "mcp after"]),
    WordedMutation("message keys", BY_NAME[Kind.MESSAGE, "send_outreach after"]),
    WordedMutation("end_refresh", BY_NAME[Kind.STRICT, "end_refresh after"]),
    WordedMutation("mail events", BY_NAME[Kind.WATCH, "take_mail after"]),
    WordedMutation("receive_messages", BY_NAME[Kind.LETTER, "position after"]),
)
"""Each removes one protecting write, or what a write is known by."""
SHORT = some_of(
    BY_NAME,
    {
        Kind.POST: ("put_value after", "data within", "data after", "copy before"),
        Kind.POST_FILED: ("data after",),
        Kind.REPLY: ("data after",),
        Kind.FORWARD: ("copy after",),
        Kind.CREATE: ("put_value after", "write 1 after"),
        Kind.MOVE: ("write 1 before", "write 1 after"),
        Kind.PART: ("write 1 after", "write 2 after"),
        Kind.CANCEL: ("write 1 after",),
        Kind.ACCEPT: ("write 1 after",),
        Kind.IMPORT: ("write 1 after",),
        Kind.UNDO: ("write 1 after",),
        Kind.UNDO_MOVE: ("write 1 after",),
        Kind.UNDO_CARD: ("write 1 after",),
        Kind.UNDO_CONTACT: ("delete_value after",),
        Kind.UNDO_PREFERENCE: ("keep_preferences after",),
        Kind.UNDO_STOP: ("change_task after",),
        Kind.UNDO_CHANGE: ("edit_task after",),
        Kind.PREFER: ("change_preferences after",),
        Kind.STOP: ("change_task after",),
        Kind.CHANGE: ("edit_task after",),
        Kind.INVITE: ("write 1 after", "data after"),
        Kind.UNINVITE: ("write 1 after",),
        Kind.MESSAGE: ("send_outreach after", "send after"),
        Kind.CARD: ("write 1 after",),
        Kind.STRICT: ("token after", "end_refresh after"),
        Kind.LENIENT: ("token after",),
        Kind.HELD: ("finish_turn after",),
        Kind.CONNECT: ("granted after", "finish_connect after"),
        Kind.WATCH: ("watch read", "take_mail after"),
        Kind.LETTER: ("receive_messages after", "letter after"),
        Kind.ANSWER: ("send after",),
        Kind.SWITCH: ("mcp before", "mcp after", "result after"),
        Kind.SKILL: ("put_value after",),
    },
)
"""What the suite runs of them."""
