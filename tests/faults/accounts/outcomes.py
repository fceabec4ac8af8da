"""What there is in the end, at the servers and in the database, in the words of `points`."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tests.faults.accounts.asking import NEWS, guest_of, number_of, reminder_of
from tests.faults.accounts.house import House
from tests.faults.accounts.points import UNDONE, Kind
from tests.faults.database import read_value
from tests.faults.sends import Send, sends

_EVENTS = "select count(*) from events where source = 'mail' and data ->> 'subject' = $1"
_ACCOUNTS = "select count(*) from credentials where account_name = $1"
_ROWS = "select count(*) from inbound where text like '%' || $1 || '%'"
_UNDOS = """
select string_agg(coalesce(arguments #>> '{before,timezone}', left(arguments #>> '{trigger,at}', 16),
                           arguments ->> 'active'), ', ')
from undo_records u join identities i using (tenant_id) where i.user_key = $1 and not u.undone
"""
"""What undos of a preference, a reminder and a task would restore."""
_ZONE = "select t.timezone from tenants t join identities i using (tenant_id) where i.user_key = $1"
_REMINDER = "select state || ' ' || left(trigger ->> 'at', 16) from tasks where title = $1"
_CONTACTS = "select count(*) from stored_values where collection = 'contacts' and value ->> 'name' = $1"
_VERSIONS = (
    "select coalesce(sum(jsonb_array_length(value -> 'versions')), 0) from stored_values"
    " where collection = 'skills' and key = $1"
)
_START = re.compile(r"DTSTART[^:\r\n]*:(\w+)")
_COUNT = re.compile(r"RRULE:\S*COUNT=(\d+)")
_ANSWER = re.compile(r"PARTSTAT=(ACCEPTED|DECLINED|TENTATIVE)")
_UNTIL = re.compile(r"RRULE:\S*UNTIL=(\w+)")
_FIRST = datetime(2031, 5, 5, 8, tzinfo=UTC)
"""When the series that are parted begin."""


async def outcome(house: House, kind: Kind, token: str, phone: str, sends: Sequence[Send]) -> str:
    """Return what became of a plan. `phone`: its person's; `sends`: what they were told by SMS, in order."""
    said = [send.text for send in sends]
    told = next((text.removeprefix(token).strip() for text in said if text.startswith(token)), "nothing")
    match kind:
        case Kind.POST | Kind.POST_FILED:
            return f"{_mails(house, token)}, {told}"
        case Kind.INVITE | Kind.UNINVITE:
            return f"{_events(house, token)}, {_mails(house, token)}, {told}"
        case Kind.REPLY | Kind.FORWARD:
            return _passed_on(house, kind, token, told)
        case Kind.PREFER | Kind.STOP | Kind.CHANGE:
            undo = await read_value(house.harness, _UNDOS, phone)
            return f"{await _state(house, kind, token, phone)}, undo to {undo}, {told}"
        case _ if kind in UNDONE:
            undone = sum("Undone" in text for text in said)
            return f"{await _state(house, UNDONE[kind], token, phone)}, undone {undone}"
        case Kind.MESSAGE:
            return f"texts {_texts(house, token)}, {told}"
        case Kind.CARD | Kind.SWITCH | Kind.SKILL:
            return f"{await _state(house, kind, token, phone)}, {told}"
        case Kind.STRICT | Kind.LENIENT | Kind.HELD:
            return f"links {sum('/connect/' in text for text in said)}, {told}"
        case Kind.CONNECT:
            accounts = await read_value(house.harness, _ACCOUNTS, f"{token.partition('-')[2]}@example.org")
            return f"accounts {accounts}, told {sum('Connected:' in text for text in said)}, {told}"
        case Kind.WATCH:
            news = f"{NEWS} {token.partition('-')[2]}"
            return f"events {await read_value(house.harness, _EVENTS, news)}, told {said.count(news)}"
        case Kind.LETTER | Kind.ANSWER:
            answers = house.dovecot.mails(letter_from(token))
            return f"rows {await read_value(house.harness, _ROWS, token)}, answers {len(answers)}"
        case _:
            return f"{_events(house, token)}, {told}"


def _mails(house: House, token: str) -> str:
    """Return how often somebody got a mail, and how many copies are among the sent mail."""
    arrived, kept = house.dovecot.mails(guest_of(token)), house.dovecot.mails(_own(token), "Sent")
    return f"mails {len(arrived)}, copies {len(kept)}"


async def _state(house: House, kind: Kind, token: str, phone: str) -> str:
    """Return what there is now of what a kind of call changes."""
    match kind:
        case Kind.SWITCH:
            return f"calls {sum(call['arguments'].get('who') == token for call in house.mcp.calls)}"
        case Kind.SKILL:
            return f"versions {await read_value(house.harness, _VERSIONS, token)}"
        case Kind.CARD:
            cards = [text for text in house.radicale.texts(house.book) if f"FN:Sam {token}\r" in text]
            return f"cards {len(cards)}"
        case Kind.UNDO_CONTACT:
            return f"contacts {await read_value(house.harness, _CONTACTS, f'Sam {token}')}"
        case Kind.PREFER:
            return str(await read_value(house.harness, _ZONE, phone))
        case Kind.STOP | Kind.CHANGE:
            return str(await read_value(house.harness, _REMINDER, reminder_of(token)))
    return _events(house, token)


def _passed_on(house: House, kind: Kind, token: str, told: str) -> str:
    words = f"{_mails(house, token)}, {told}"
    if kind is Kind.FORWARD:
        return words
    threaded = [
        mail for mail in house.dovecot.mails(guest_of(token)) if f"In-Reply-To: <{token}@example.org>".encode() in mail
    ]
    return f"{words}, {'in its thread' if threaded else 'in no thread'}"


def _texts(house: House, token: str) -> int:
    """Return how often somebody else was written to."""
    left = sends(house.harness.folder / "providers.jsonl")
    return sum(send.accepted and send.peer == number_of(token) for send in left)


def letter_from(token: str) -> str:
    """Return the address of who writes a mail to the assistant."""
    return f"from-{token}@example.org"


def _own(token: str) -> str:
    return f"{token.partition('-')[2]}@example.org"


def _events(house: House, token: str) -> str:
    """Return the events of a token: how many, when they begin, how often a series takes place, and an answer."""
    found = [text for text in house.radicale.texts(house.calendar) if f"SUMMARY:meeting {token}\r" in text]
    words = [f"events {len(found)}", *sorted(starts for text in found for starts in _START.findall(_event(text)))]
    words += [answer for text in found for answer in _ANSWER.findall(text.replace("\r\n ", ""))]
    counts = [count for text in found if (count := _occurrences(text))]
    return " ".join(words) + (f", occurrences {sum(counts)}" if counts else "")


def _event(text: str) -> str:
    """Return an object's events without its timezone, whose parts begin too."""
    return text.partition("BEGIN:VEVENT")[2]


def _occurrences(text: str) -> int:
    """Return how often a weekly series takes place; 0 for what is none."""
    if counted := _COUNT.search(text):
        return int(counted[1])
    until = _UNTIL.search(text)
    return 0 if until is None else (datetime.fromisoformat(until[1]) - _FIRST) // timedelta(7) + 1
