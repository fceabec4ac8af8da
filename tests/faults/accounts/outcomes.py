"""What there is in the end, at the servers and in the database, in the words of `points`."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tests.faults.accounts.asking import NEWS, number_of
from tests.faults.accounts.house import House
from tests.faults.accounts.points import Kind
from tests.faults.sends import Send, sends

_EVENTS = "select count(*) from events where source = 'mail' and data ->> 'subject' = $1"
_ACCOUNTS = "select count(*) from credentials where account_name = $1"
_ROWS = "select count(*) from inbound where text like '%' || $1 || '%'"
_START = re.compile(r"DTSTART[^:\r\n]*:(\w+)")
_COUNT = re.compile(r"RRULE:\S*COUNT=(\d+)")
_ANSWER = re.compile(r"PARTSTAT=(ACCEPTED|DECLINED|TENTATIVE)")
_UNTIL = re.compile(r"RRULE:\S*UNTIL=(\w+)")
_FIRST = datetime(2031, 5, 5, 8, tzinfo=UTC)
"""When the series that are parted begin."""


async def outcome(house: House, kind: Kind, token: str, sends: Sequence[Send]) -> str:
    """Return what became of a plan. `sends`: what its person was told by SMS, in order."""
    said = [send.text for send in sends]
    told = next((text.removeprefix(token).strip() for text in said if text.startswith(token)), "nothing")
    match kind:
        case Kind.POST | Kind.POST_FILED:
            arrived, kept = house.dovecot.mails(f"to-{token}@example.org"), house.dovecot.mails(_own(token), "Sent")
            return f"mails {len(arrived)}, copies {len(kept)}, {told}"
        case Kind.UNDO:
            return f"{_events(house, token)}, undone {sum('Undone' in text for text in said)}"
        case Kind.MESSAGE:
            return f"texts {_texts(house, token)}, {told}"
        case Kind.CARD:
            cards = [text for text in house.radicale.texts(house.book) if f"FN:Sam {token}\r" in text]
            return f"cards {len(cards)}, {told}"
        case Kind.STRICT | Kind.LENIENT | Kind.HELD:
            return f"links {sum('/connect/' in text for text in said)}, {told}"
        case Kind.CONNECT:
            accounts = await _counted(house, _ACCOUNTS, f"{token.partition('-')[2]}@example.org")
            return f"accounts {accounts}, told {sum('Connected:' in text for text in said)}, {told}"
        case Kind.WATCH:
            news = f"{NEWS} {token.partition('-')[2]}"
            return f"events {await _counted(house, _EVENTS, news)}, told {said.count(news)}"
        case Kind.LETTER | Kind.ANSWER:
            answers = house.dovecot.mails(letter_from(token))
            return f"rows {await _counted(house, _ROWS, token)}, answers {len(answers)}"
        case _:
            return f"{_events(house, token)}, {told}"


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


async def _counted(house: House, statement: str, token: str) -> int:
    connection = await house.harness.connect()
    try:
        return int(await connection.fetchval(statement, token))
    finally:
        await connection.close()
