"""The mailbox of the tools on servers that say whatever they like: bounded, and no connection is left behind."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from core.http.peer import Allowance
from providers.email.imap import OF_A_PERSON
from providers.email.imap_answers import listed_folder, numbers_in, read_number
from providers.email.imap_wire import ImapResponse
from providers.email.mailbox import Mailbox, open_mailbox
from providers.email.types import FolderUse, MailFailed, MailFailure, MailQuery
from tests.agents.services import certified
from tests.eventually import eventually
from tests.servers.hostile_mail import (
    CANARY,
    HostileServer,
    Manner,
    Talk,
    drips,
    falls_silent,
    floods,
    hostile_imap,
    says,
)

LITERAL = b"* 1 FETCH (UID 1 RFC822.SIZE 9 BODY[] {1000000}\r\n" + b"x" * 1_000_000 + b")\r\n"

type Call = Callable[[Mailbox], Awaitable[object]]


def search(box: Mailbox) -> Awaitable[object]:
    """Search the inbox."""
    return box.search("INBOX", MailQuery())


def fetch(box: Mailbox) -> Awaitable[object]:
    """Fetch a message."""
    return box.fetch("INBOX", [1])


async def failure_at(server: HostileServer, call: Call) -> MailFailed:
    """Return how a call fails at a server."""
    http = server.http()
    try:
        with pytest.raises(MailFailed) as failed:
            await called(server, http, call)
        return failed.value
    finally:
        await http.close()


async def called(server: HostileServer, http: object, call: Call) -> object:
    """Return what a call returns."""
    async with open_mailbox(server.account(login=f"ann{server.port}"), http) as box:  # type: ignore[arg-type]
        return await call(box)


BABBLE: dict[str, tuple[str, Manner, Call]] = {
    "lines": ("UID SEARCH", floods("* 1 EXISTS\r\n"), search),
    "found messages": ("UID SEARCH", floods("* SEARCH 1 2 3\r\n"), search),
    "a line without end": ("UID SEARCH", floods("1 "), search),
    "literals": ("UID FETCH", floods(LITERAL), fetch),
    "empty literals": ("UID FETCH", floods(b"* 1 FETCH (X {0}\r\n)\r\n"), fetch),
    "folders": ("LIST", floods('* LIST () "/" INBOX\r\n'), lambda box: box.folders()),
    "a message larger than any": ("UID FETCH", says("* 1 FETCH (UID 1 BODY[] {2000000000}"), fetch),
    "a greeting without an end": ("GREETING", floods("* OK "), search),
    "capabilities": ("CAPABILITY", floods("* CAPABILITY X\r\n"), search),
    "answers to the login": ("LOGIN", floods("* OK no\r\n"), search),
}


@pytest.mark.parametrize(("command", "manner", "call"), BABBLE.values(), ids=BABBLE.keys())
async def test_whatever_is_said_without_end_exceeds_and_is_left_alone(
    command: str, manner: Manner, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("providers.email.imap.COMMAND", Allowance(8_000_000, 2000, 120.0))
    async with hostile_imap({command: manner}) as server:
        failed = await failure_at(server, call)
        assert failed.failure is MailFailure.EXCEEDED
        assert "sends too much data" in str(failed)
        assert server.sent < 40_000_000
        before = len(server.talks)
        assert (await failure_at(server, call)).failure is MailFailure.EXCEEDED
        assert len(server.talks) == before
        await eventually(lambda: not server.open_talks, "the end of the connection")


async def test_the_calls_of_a_connection_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("providers.email.imap_wire.CONNECTION", Allowance(10_000_000, 60, 3600.0))

    async def again(box: Mailbox) -> None:
        for _ in range(30):
            await fetch(box)

    async with hostile_imap() as server:
        assert (await failure_at(server, again)).failure is MailFailure.EXCEEDED


@pytest.mark.parametrize("scheme", ["imap", "imaps"])
@pytest.mark.parametrize("command", ["GREETING", "LOGIN", "NOOP"])
async def test_a_server_that_drips_ends_with_the_time_of_the_call(
    command: str, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def be_brief() -> None:
        monkeypatch.setattr("providers.email.imap_wire.SECONDS", 0.5)  # too little for whoever drips

    async def noop(box: Mailbox) -> None:
        be_brief()
        await box.connection.call(lambda wire: wire.command(b"NOOP"))

    if command != "NOOP":
        be_brief()
    context = certified(tmp_path) if scheme == "imaps" else None
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with hostile_imap({command: drips(0.05)}, tls=context) as server:
        failed = await failure_at(server, noop)
        assert failed.failure is MailFailure.UNREACHABLE
        await eventually(lambda: not server.open_talks, "the end of the connection")


async def test_a_handshake_that_is_never_answered_leaves_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("providers.email.imap_wire.SECONDS", 0.5)
    async with hostile_imap({"GREETING": falls_silent}) as server:
        secure = replace(server.account(), servers={"imap": f"imaps://127.0.0.1:{server.port}"})
        http = server.http()
        with pytest.raises(MailFailed, match="cannot be reached"):
            async with open_mailbox(secure, http):
                pass
        await http.close()
        await eventually(lambda: not server.open_talks, "the end of the connection")


NONSENSE: dict[str, tuple[str, str, Call]] = {
    "a validity beyond range": ("EXAMINE", "* OK [UIDVALIDITY 99999999999] x", search),
    "a validity that is none": ("EXAMINE", "* OK [UIDVALIDITY 1_0] x", search),
    "a found message beyond range": ("UID SEARCH", "* SEARCH 4294967296", search),
    "a found message of 5,000 digits": ("UID SEARCH", f"* SEARCH {'9' * 5000}", search),
    "a found message that is none": ("UID SEARCH", f"* SEARCH {CANARY}", search),
    "a message beyond range": ("UID FETCH", "* 1 FETCH (UID 4294967296 BODY[] {3}\r\nabc)", fetch),
    "a size beyond range": ("UID FETCH", f"* 1 FETCH (UID 1 RFC822.SIZE {'9' * 30} BODY[] {{3}}\r\nabc)", fetch),
    "a literal of 5,000 digits": ("UID FETCH", f"* 1 FETCH (UID 1 BODY[] {{{'9' * 5000}}}", fetch),
    "no answer at all": ("UID FETCH", CANARY, fetch),
}


@pytest.mark.parametrize(("command", "text", "call"), NONSENSE.values(), ids=NONSENSE.keys())
async def test_what_makes_no_sense_fails_without_its_words(command: str, text: str, call: Call) -> None:
    async with hostile_imap({command: says(text)}) as server:
        with capture_logs() as logs:
            failed: BaseException | None = await failure_at(server, call)
        assert isinstance(failed, MailFailed)
        assert failed.failure in (MailFailure.REFUSED, MailFailure.UNREACHABLE)
        assert logs == []
        assert_wordless(failed)


async def test_a_refusal_is_told_without_its_words() -> None:
    async def refuses(talk: Talk) -> None:
        await talk.say(f"{talk.tag} NO [{CANARY.upper()}] {CANARY}\r\n")

    for command in ("LOGIN", "EXAMINE", "UID SEARCH", "UID FETCH", "LIST"):
        async with hostile_imap({f"END {command}": refuses}) as server:

            async def everything(box: Mailbox) -> None:
                await box.folders()
                await search(box)
                await fetch(box)

            assert_wordless(await failure_at(server, everything))


def assert_wordless(error: BaseException | None) -> None:
    """Assert that what is logged of an error and its causes has no words of the server."""
    while error is not None:
        assert CANARY not in str(error).lower()
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


async def test_one_person_opens_so_many_mailboxes_at_once_and_others_do_not_wait() -> None:
    async with hostile_imap({"LOGIN": falls_silent}) as slow, hostile_imap() as good:
        http, more = slow.http(), good.http()

        async def opens(number: int) -> None:
            account = replace(slow.account(login=f"ann{number}"), person="ann")
            async with open_mailbox(account, http):
                pass

        opening = [asyncio.create_task(opens(number)) for number in range(3 * OF_A_PERSON)]
        await eventually(lambda: slow.open_talks == OF_A_PERSON, "as many connections as one person may have")
        async with open_mailbox(replace(good.account(), person="bob"), more) as box:
            assert await box.search("INBOX", MailQuery()) == [1]
        async with open_mailbox(good.account(login="ours"), more) as box:
            assert await box.search("INBOX", MailQuery()) == [1]
        assert len(slow.talks) == OF_A_PERSON
        for task in opening:
            task.cancel()
        await asyncio.wait(opening)
        await eventually(lambda: not slow.open_talks, "the end of the connections")
        await http.close()
        await more.close()


async def test_what_a_server_tells_of_moved_and_stored_mail_is_not_needed() -> None:
    told = says("* OK [COPYUID 7 1 1:4294967295] moved", "* OK [APPENDUID 7 99999999999] stored")
    async with hostile_imap({"UID MOVE": told, "APPEND": told}) as server:
        http = server.http()
        async with open_mailbox(server.account(), http) as box:
            assert await box.move("INBOX", [1], "Archive") == ()
            assert await box.append("INBOX", b"abc\r\n", [], datetime(2026, 11, 23, tzinfo=UTC)) is None
        await http.close()


def test_sets_of_numbers_are_as_long_as_was_asked() -> None:
    assert numbers_in("4:6,9", 4) == [4, 5, 6, 9]
    for text in ("4:6,9,10", "1:4294967295", "1:*", "", "a", "4294967296", ",".join(["1:1000"] * 100_000)):
        assert numbers_in(text, 4) == (), text[:20]
    for digits in (b"4294967296", "-1", "1_0", "²", " 1", "", "9" * 5000):
        with pytest.raises(ValueError, match="no number"):
            read_number(digits)


def test_folders_are_read_by_their_lines_alone() -> None:
    answers = [
        ImapResponse(b'* LIST (\\HasNoChildren \\Sent) "/" "Sent \\"it\\""\r\n'),
        ImapResponse(b'* LIST (\\NoSelect) "." {n}\r\n', (b"Mail",)),
        ImapResponse(b"* \r\n"),
        ImapResponse(b"* LIST () NIL INBOX\r\n"),
        ImapResponse(b"* LIST " + b"(" * 4_000_000),
        ImapResponse(b"* LIST " + b"(" * 4000),
        ImapResponse(b'* LIST (\\A) "/"\r\n'),
    ]
    assert [folder for answer in answers if (folder := listed_folder(answer))] == [
        ('Sent "it"', frozenset({"\\hasnochildren", "\\sent"})),
        ("Mail", frozenset({"\\noselect"})),
        ("INBOX", frozenset()),
    ]


@pytest.mark.parametrize("text", ["(" * 200_000, "FLAGS (" * 100_000])
async def test_lines_that_are_made_to_be_read_slowly_are_read_at_once(text: str) -> None:
    manners = {"LIST": says(f"* LIST {text}"), "UID FETCH": says(f"* 1 FETCH (UID 1 {text} BODY[] {{3}}\r\nabc)")}
    async with hostile_imap(manners) as server:
        http = server.http()
        async with open_mailbox(server.account(), http) as box:
            assert await box.folder_for(FolderUse.SENT) is None
            assert len(await box.fetch("INBOX", [1])) == 1
        await http.close()
