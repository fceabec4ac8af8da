"""Watched mailboxes on servers that say whatever they like: bounded, and between the turns of others."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from abilities.mail.idle import IdleMailbox, open_mailbox
from core.http.peer import Allowance
from providers.email.imap_wire import COMMAND, ImapError, ImapExceeded, ImapRefused, wire_on
from providers.email.servers import connect, server_of
from providers.email.types import MailFailed
from tests.servers.hostile_mail import CANARY, HostileServer, Manner, Talk, floods, hostile_imap, says

SMALL = Allowance(200_000, 2000, 600.0)
MOMENT = datetime(2026, 11, 23, tzinfo=UTC)
LITERAL = b"* 1 FETCH (UID 1 RFC822.SIZE 9 BODY[] {100000}\r\n" + b"x" * 100_000 + b")\r\n"


class Turns:
    """Counts the turns that others have of the event loop."""

    def __init__(self) -> None:
        self.count = 0

    async def take(self) -> None:
        """Take turns without end."""
        for self.count in itertools.count(1):
            await asyncio.sleep(0)


@pytest.fixture
async def turns() -> AsyncIterator[Turns]:
    """Yield somebody else, who takes turns meanwhile."""
    others = Turns()
    taking = asyncio.create_task(others.take())
    yield others
    taking.cancel()
    await asyncio.wait({taking})


@asynccontextmanager
async def watched(server: HostileServer) -> AsyncIterator[IdleMailbox]:
    """Yield a mailbox there as it is watched."""
    http = server.http()
    try:
        async with open_mailbox(server.account(), http) as mailbox:
            yield mailbox
    finally:
        await http.close()


@pytest.mark.whole("it floods until an allowance ends")
async def test_lines_in_idle_that_are_no_news_end_and_others_have_their_turns(turns: Turns) -> None:
    async with hostile_imap({"IDLE": floods("* 1\r\n")}) as server, watched(server) as mailbox:
        before = turns.count
        with pytest.raises(ImapExceeded):
            await mailbox.wait(renew=600.0, poll=600.0)
        assert turns.count - before >= COMMAND.pieces // 100 - 1


async def test_an_answer_without_end_ends_at_its_allowance(turns: Turns) -> None:
    async with hostile_imap({"UID FETCH": floods(LITERAL)}) as server, watched(server) as mailbox:
        before = turns.count
        with pytest.raises(ImapExceeded):
            await mailbox.fetch(1)
        # Beyond what is read, the buffers of both kernels and of the reader are filled.
        assert server.sent < 4 * COMMAND.size
        assert turns.count - before >= COMMAND.size // len(LITERAL) // 2


BABBLE: dict[str, tuple[str, Manner]] = {
    "lines": ("NOOP", floods("* 1 EXISTS\r\n")),
    "lines of others' commands": ("NOOP", floods("x9 OK done\r\n")),
    "empty lines": ("NOOP", floods("\r\n")),
    "literals": ("NOOP", floods(LITERAL)),
    "empty literals": ("NOOP", floods(b"* 1 FETCH (X" + b" {0}\r\n" * 90 + b")\r\n")),
    "one answer of literals": ("NOOP", floods(b"{0}\r\n")),
    "a line without end": ("NOOP", floods("x")),
    "a literal larger than any": ("NOOP", says("* 1 FETCH (BODY[] {4000000000}")),
    "to go on, again and again": ("NOOP", floods("+ go on\r\n")),
    "a greeting of literals": ("GREETING", floods(b"* OK {100000}\r\n" + b"x" * 100_000)),
    "a greeting without an end": ("GREETING", floods("* OK ")),
}


@pytest.mark.parametrize(("command", "manner"), BABBLE.values(), ids=BABBLE.keys())
async def test_whatever_is_said_without_end_exceeds(command: str, manner: Manner) -> None:
    async with hostile_imap({command: manner}) as server:
        http, place = server.http(), server_of(server.account(), "imap")
        with pytest.raises(ImapExceeded):
            async with wire_on(await connect(place, http), place, SMALL) as wire:
                await wire.command(b"NOOP")
        await http.close()


async def test_commands_of_a_connection_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("providers.email.imap_wire.CONNECTION", Allowance(10_000_000, 50, 3600.0))
    async with hostile_imap({"NOOP": says("* 1 EXISTS", "* 2 EXISTS")}) as server, watched(server) as mailbox:
        await again(mailbox, 10)
        with pytest.raises(ImapExceeded):
            await again(mailbox, 10)


async def again(mailbox: IdleMailbox, times: int) -> None:
    """Give the same command so many times."""
    for _ in range(times):
        await mailbox.wire.command(b"NOOP")


@pytest.mark.whole("it reads 100,000 lines")
async def test_an_inbox_of_100_000_messages_is_listed() -> None:
    count = 100_000
    listing = "\r\n".join(
        f'* {n} FETCH (UID {n} INTERNALDATE "23-Nov-2026 08:00:00 +0000")' for n in range(1, count + 1)
    )
    numbers = " ".join(map(str, range(1, count + 1)))
    manners = {"UID SEARCH": says(f"* SEARCH {numbers}"), "UID FETCH": says(listing), "IDLE": says("* 1 RECENT")}
    async with hostile_imap(manners) as server, watched(server) as mailbox:
        assert len(await mailbox.since(MOMENT)) == count
        assert [arrival.uid for arrival in await mailbox.after(count - 2)] == [count - 1, count]
        await mailbox.wait(renew=600.0, poll=600.0)


type Call = Callable[[IdleMailbox], Awaitable[object]]


def fetched(text: str) -> tuple[str, str, Call]:
    """Return an answer to the fetch of message 1."""
    return ("UID FETCH", text, lambda mailbox: mailbox.fetch(1))


NONSENSE: dict[str, tuple[str, str, Call]] = {
    "a validity beyond range": ("EXAMINE", "* OK [UIDVALIDITY 4294967296] x", lambda mailbox: mailbox.last(1)),
    "a validity of 5,000 digits": ("EXAMINE", f"* OK [UIDVALIDITY {'9' * 5000}] x", lambda mailbox: mailbox.last(1)),
    "a next message beyond range": ("EXAMINE", "* OK [UIDNEXT 99999999999] x", lambda mailbox: mailbox.last(1)),
    "a message beyond range": ("UID FETCH", '* 1 FETCH (UID 4294967296 INTERNALDATE "x")', lambda one: one.after(0)),
    "a message of 5,000 digits": ("UID FETCH", f"* 1 FETCH (UID {'9' * 5000})", lambda mailbox: mailbox.after(0)),
    "a found message beyond range": ("UID SEARCH", "* SEARCH 99999999999", lambda mailbox: mailbox.since(MOMENT)),
    "a count of 5,000 digits": ("STATUS", f"* STATUS INBOX (MESSAGES {'9' * 5000})", lambda mailbox: mailbox.last(1)),
    "a size beyond range": fetched("* 1 FETCH (UID 1 RFC822.SIZE 9223372036854775808 BODY[] {3}\r\nabc)"),
    "a body that is not there": fetched('* 1 FETCH (UID 1 RFC822.SIZE 3 X "{n}" BODY[] {n})'),
}


@pytest.mark.parametrize(("command", "text", "call"), NONSENSE.values(), ids=NONSENSE.keys())
async def test_numbers_that_are_none_of_a_mailbox_end_the_connection(command: str, text: str, call: Call) -> None:
    async with hostile_imap({command: says(text)}) as server:
        with pytest.raises(ImapError):
            async with watched(server) as mailbox:
                await call(mailbox)


@pytest.mark.parametrize(
    "date", ["01-Jan-0001 00:00:00 +1400", "31-Dec-9999 23:00:00 -1400", "99-Xyz-2026 99:99:99 +9999"]
)
async def test_a_moment_that_is_none_is_left_out(date: str) -> None:
    text = f'* 1 FETCH (UID 1 RFC822.SIZE 3 FLAGS () INTERNALDATE "{date}" BODY[] {{3}}\r\nabc)'
    async with hostile_imap({"UID FETCH": says(text)}) as server, watched(server) as mailbox:
        assert await mailbox.after(0) == []
        mail = await mailbox.fetch(1)
        assert mail is not None
        assert (mail.received, mail.data) == (None, b"abc")


async def test_a_line_that_is_made_to_be_read_slowly_is_read_at_once() -> None:
    slow = "FLAGS (" * 100_000
    async with (
        hostile_imap({"UID FETCH": says(f"* 1 FETCH (UID 1 RFC822.SIZE 0 {slow}")}) as server,
        watched(server) as mailbox,
    ):
        mail = await mailbox.fetch(1)
        assert mail is not None
        assert not mail.flags


async def test_what_a_server_says_is_in_no_error() -> None:
    async def refuses(talk: object) -> None:
        await talk.say(f"{talk.tag} NO [{CANARY.upper()}] {CANARY}\r\n")  # type: ignore[attr-defined]

    for command in ("LOGIN", "EXAMINE", "CAPABILITY", "IDLE"):
        async with hostile_imap({f"END {command}": refuses}) as server:
            with capture_logs() as logs, pytest.raises((ImapError, ImapRefused, MailFailed)) as failed:
                async with watched(server) as mailbox:
                    await mailbox.wait(renew=0.0, poll=0.0)
            error: BaseException | None = failed.value
            while error is not None:
                assert CANARY not in str(error).lower()
                error = error.__cause__ or error.__context__
            assert logs == []


async def refuses(talk: Talk) -> None:
    """Refuse a command."""
    await talk.say(f"{talk.tag} NO away\r\n")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("LOGIN", "The mail server 127.0.0.1 does not accept the stored login."),
        ("EXAMINE", "The mail server 127.0.0.1 does not open the inbox."),
    ],
)
async def test_a_server_that_refuses_a_watched_mailbox_is_named(command: str, said: str) -> None:
    async with hostile_imap({command: refuses}) as server:
        with pytest.raises(MailFailed) as failed:
            async with watched(server):
                pass
    assert str(failed.value) == said
