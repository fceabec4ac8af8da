"""What the model does about a text that asks for something of the person's accounts."""

import re
from collections.abc import Callable, Sequence

from core.json_types import JsonObject
from tests.faults.accounts.points import UNDONE, Kind
from tests.scripted_model import Reply, calls, text, text_of

DAY = "2031-05-05"
ASKS = re.compile(rf"(m\d{{5}}-p\d{{3}}) ({'|'.join(Kind)})\b")
NEWS = "News for"
_NEWS = re.compile(rf'"subject": "({NEWS} \w+)"')
_FILE = re.compile(r"\bf[0-9a-f]{10}\b")
_MAIL = re.compile(r"\bmail/email/primary/INBOX/\d+/\d+")
_DONE = (
    "Sent to",
    "is in your calendar",
    "Changed: ",
    "Deleted: ",
    "Your answer is noted",
    "Added 2 events",
    "Added 1 event",
    "2 were there already",
    " found",
    "On its way to",
    "is now in your address book",
    "Kept as contact",
    "timezone: Europe/Lisbon",
    "is stopped",
    "The light is on",
    "is kept, version",
)
"""Words of results by which something has been done."""


def answer_for_accounts(messages: Sequence[JsonObject], turn: Sequence[JsonObject]) -> Reply | None:
    """Call what was asked for, then say what became of it; None for other texts.

    `turn`: the messages of this turn, which may go on after a consent with the call alone.
    """
    said = [text_of(message) for message in messages if message.get("role") == "user"]
    if news := _NEWS.search(str(turn)):
        return text(news[1])
    asked = [match for text in said if (match := ASKS.search(text))]
    results = " ".join(text_of(message) for message in turn if message.get("role") == "tool")
    if not asked or not (results or ASKS.search(str(turn))):
        return None
    token, kind = asked[-1][1], Kind(asked[-1][2])
    if kind is Kind.WATCH:
        return text(token)
    if not results:
        return calls(_call(token, kind, str(turn)))
    if (
        kind in _OF_A_MAIL
        and (mail := _MAIL.search(results))
        and "Sent to" not in results
        and "SendEmailAgent" not in str(turn)
    ):
        return calls(("SendEmailAgent", _OF_A_MAIL[kind](token, mail[0])))
    if "It is unknown" in results or "The outcome of this call is unknown" in results:
        return text(f"{token} unsure")
    return text(f"{token} acted" if any(words in results for words in _DONE) else f"{token} {results[:300]}")


def reminder_of(token: str) -> str:
    """Return the words of the reminder that the one with this token has."""
    return f"call {token.rpartition('-')[2]}"


def number_of(token: str) -> str:
    """Return the number of somebody whom only the one with this token knows."""
    return f"+1415555{int(token.partition('-p')[2]):04}"


def guest_of(token: str) -> str:
    """Return the address of who is written to."""
    return f"to-{token}@example.org"


def _call(token: str, kind: Kind, seen: str) -> tuple[str, JsonObject]:
    event, file, reminder = f"meeting {token}", _FILE.search(seen), reminder_of(token)
    wanted: dict[Kind, tuple[str, JsonObject]] = {
        Kind.POST: ("SendEmailAgent", {"recipient": [guest_of(token)], "subject": token, "body": "At noon?"}),
        Kind.INVITE: ("create_event", {"title": event, "start": f"{DAY}T10:00", "invite": [guest_of(token)]}),
        Kind.CREATE: ("create_event", {"title": event, "start": f"{DAY}T10:00"}),
        Kind.MOVE: ("change_event", {"event": event, "day": DAY, "start": "2031-05-06"}),
        Kind.PART: ("change_event", {"event": event, "day": "2031-05-19", "start": "11:00", "series": "following"}),
        Kind.CANCEL: ("cancel_event", {"event": event, "day": DAY}),
        Kind.MESSAGE: ("MessageSomeoneAgent", {"to": number_of(token), "text": "At noon?"}),
        Kind.CARD: ("add_to_address_book", {"name": f"Sam {token}", "addresses": [number_of(token)]}),
        Kind.UNDO_CONTACT: ("add_contact", {"name": f"Sam {token}", "addresses": [number_of(token)]}),
        Kind.PREFER: ("set_preference", {"name": "timezone", "value": "Lisbon"}),
        Kind.STOP: ("stop_task", {"which": reminder}),
        Kind.CHANGE: ("change_reminder", {"which": reminder, "at": "2031-05-06T10:00"}),
        Kind.ACCEPT: ("answer_invitation", {"event": event, "day": DAY, "answer": "accept"}),
        Kind.SWITCH: ("home__light", {"who": token}),
        Kind.SKILL: ("save_skill", {"name": token, "description": "For reports.", "text": "Write five lines."}),
        Kind.IMPORT: ("add_events_from_file", {"file": file[0] if file else ""}),
    }
    same = {Kind.POST_FILED: Kind.POST, Kind.UNINVITE: Kind.CANCEL, **UNDONE}
    return wanted.get(same.get(kind, kind), ("search_mail", {}))


_OF_A_MAIL: dict[Kind, Callable[[str, str], JsonObject]] = {
    Kind.REPLY: lambda token, mail: {"answers": mail, "body": f"At noon, {token}."},
    Kind.FORWARD: lambda token, mail: {"forwards": mail, "recipient": [guest_of(token)], "body": token},
}
"""What is sent of a mail that was found."""
