"""A mailbox at a real Dovecot: read without a trace, changed as asked, and reached past the guard only."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from core.credentials.types import OpenAccount
from core.http.guarded_client import GuardedClient
from providers.email.imap_answers import criteria_of, decoded_name, folder_argument, stored_mail
from providers.email.imap_wire import ImapResponse
from providers.email.mailbox import Mailbox, open_mailbox
from providers.email.types import FolderUse, MailFailed, MailFailure, MailQuery, MailRef
from tests.servers.dovecot import Dovecot

LINE_BREAKS = ["a\r\nA1 DELETE INBOX", "a\nb", "a\x00b", "a\x85b", "a\u2028b", "a\x1bb"]


def letter(number: int, subject: str = "Lunch", sender: str = "bob@example.org", text: str = "At noon?") -> bytes:
    """Return a message."""
    head = f"From: {sender}\r\nTo: ann@example.org\r\nSubject: {subject}\r\nMessage-ID: <{number}@example.org>\r\n"
    return f"{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n".encode()


async def uids(box: Mailbox, folder: str = "INBOX", **query: object) -> list[int]:
    return list(await box.search(folder, MailQuery(**query)))  # type: ignore[arg-type]


@pytest.mark.parametrize("token", ["", "a-token"])
async def test_a_mailbox_is_searched_and_read_without_a_trace(dovecot: Dovecot, token: str) -> None:
    ann = dovecot.new()
    for number, (subject, sender) in enumerate([("Lunch", "bob@example.org"), ("Größe", "eve@example.org")], start=1):
        dovecot.deliver(ann, letter(number, subject, sender, f"text {number}"))
    async with open_mailbox(dovecot.account(ann, token=f"{token}{ann}" if token else ""), dovecot.http()) as box:
        assert await uids(box) == [1, 2]
        assert await uids(box, sender="bob") == await uids(box, subject="unc") == await uids(box, text="text 1") == [1]
        assert await uids(box, subject="größe") == await uids(box, message_id="2@example.org") == [2]
        assert await uids(box, since=date(2020, 1, 1), unread=True, recipient="ann") == [1, 2]
        assert await uids(box, before=date(2020, 1, 1)) == await uids(box, flagged=True) == []
        found = await box.fetch("INBOX", [2, 1, 7], 20)
        assert [(mail.uid, mail.unread, len(mail.data), mail.whole) for mail in found] == [
            (2, True, 20, False),
            (1, True, 20, False),
        ]
        assert (await box.fetch("INBOX", [1]))[0].data == letter(1, text="text 1")
    async with open_mailbox(dovecot.account(ann), dovecot.http()) as box:
        assert await uids(box, unread=True) == [1, 2]
        assert await uids(box, unread=False) == []


async def test_folders_are_known_by_their_use(dovecot: Dovecot) -> None:
    async with open_mailbox(dovecot.account(dovecot.new()), dovecot.http()) as box:
        uses = [await box.folder_for(use) for use in FolderUse]
        assert uses == ["INBOX", None, "Archive", "Drafts", None, "Sent", "Trash"]
        await box.create_folder('Gelöscht & "weg"')
        assert 'Gelöscht & "weg"' in [folder.name for folder in await box.folders()]
        assert await box.open_folder('Gelöscht & "weg"') > 0


async def test_a_change_touches_that_message_alone(dovecot: Dovecot) -> None:
    ann = dovecot.new()
    for number in range(1, 5):
        dovecot.deliver(ann, letter(number), flags="T" if number == 4 else "")
    async with open_mailbox(dovecot.account(ann), dovecot.http()) as box:
        first, second, third, _ = await uids(box)
        await box.flag("INBOX", [first], "\\Seen", on=True)
        await box.flag("INBOX", [first, second], "\\Flagged", on=True)
        await box.flag("INBOX", [second], "\\Flagged", on=False)
        assert await uids(box, unread=False) == await uids(box, flagged=True) == [first]
        moved = await box.move("INBOX", [second], "Archive")
        assert [mail.data for mail in await box.fetch("Archive", moved)] == [letter(2)]
        await box.delete("INBOX", [third])
        kept = {mail.uid: mail.flags for mail in await box.fetch("INBOX", await uids(box), 1)}
    # The fourth was marked as deleted by somebody else's program, which may still take that back.
    assert len(kept) == 2
    assert [flags for flags in kept.values() if "\\deleted" in flags] != []


async def test_a_message_is_appended_with_its_flags_and_moment(dovecot: Dovecot) -> None:
    moment = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    async with open_mailbox(dovecot.account(dovecot.new()), dovecot.http()) as box:
        uid = await box.append("Drafts", letter(9), ["\\Draft", "\\Seen"], moment)
        assert uid is not None
        [draft] = await box.fetch("Drafts", [uid])
    assert (draft.data, draft.received) == (letter(9), moment)
    assert {"\\draft", "\\seen"} <= draft.flags


@pytest.mark.parametrize("text", LINE_BREAKS)
async def test_nothing_that_is_said_ends_a_command(dovecot: Dovecot, text: str) -> None:
    ann = dovecot.new()
    dovecot.deliver(ann, letter(1))
    for field in ("sender", "recipient", "subject", "text", "message_id"):
        with pytest.raises(MailFailed) as refused:
            criteria_of(MailQuery(**{field: text}))  # type: ignore[arg-type]
        assert refused.value.failure is MailFailure.REFUSED
    account = dovecot.account(ann)
    for wrong in (replace(account, login=text), replace(account, secret=text)):
        with pytest.raises(MailFailed) as refused:
            async with open_mailbox(wrong, dovecot.http()):
                pass
        assert refused.value.failure is MailFailure.LOGIN
    async with open_mailbox(account, dovecot.http()) as box:
        works: list[Callable[[], Awaitable[object]]] = [
            lambda: box.open_folder(text),
            lambda: box.create_folder(text),
            lambda: box.move("INBOX", [1], text),
            lambda: box.append(text, b"x", [], datetime.now(UTC)),
        ]
        for work in works:
            with pytest.raises(MailFailed):
                await work()
        assert await uids(box) == [1]


async def test_quotes_and_backslashes_are_only_text(dovecot: Dovecot) -> None:
    ann, words = dovecot.new(), '\\" OR ALL "'
    dovecot.deliver(ann, letter(1))
    dovecot.deliver(ann, letter(2, subject=f"x {words} y"))
    async with open_mailbox(dovecot.account(ann), dovecot.http()) as box:
        assert await uids(box, subject=words) == [2]


async def test_a_login_is_refused_in_words(dovecot: Dovecot) -> None:
    ann = dovecot.new()
    for account in (dovecot.account(ann, secret="wrong"), replace(dovecot.account(ann, token=f"t{ann}"), secret="old")):
        with pytest.raises(MailFailed, match="does not accept the stored login") as refused:
            async with open_mailbox(account, dovecot.http()):
                pass
        assert refused.value.failure is MailFailure.LOGIN
        assert "old" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["imaps", "imap+starttls"])
async def test_tls_checks_the_certificate_for_the_name(
    dovecot: Dovecot, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = dovecot.imaps if scheme == "imaps" else dovecot.imap
    account = dovecot.account(dovecot.new())

    def at(host: str) -> OpenAccount:
        return replace(account, servers={"imap": f"{scheme}://{host}:{port}"})

    with pytest.raises(MailFailed) as refused:
        async with open_mailbox(at("localhost"), dovecot.http()):
            pass
    assert refused.value.failure is MailFailure.UNREACHABLE
    monkeypatch.setenv("SSL_CERT_FILE", str(dovecot.folder / "ca.pem"))
    async with open_mailbox(at("localhost"), dovecot.http()) as box:
        assert await uids(box) == []
    with pytest.raises(MailFailed):
        async with open_mailbox(at("127.0.0.1"), dovecot.http()):
            pass


async def test_no_private_server_is_reached_unless_it_is_named(dovecot: Dovecot) -> None:
    account = dovecot.account(dovecot.new())
    for url in (account.servers["imap"], f"imap://localhost:{dovecot.imap}", "imaps://10.0.0.1", "imaps://localhost"):
        with pytest.raises(MailFailed) as refused:
            async with open_mailbox(replace(account, servers={"imap": url}), GuardedClient()):
                pass
        assert refused.value.failure is MailFailure.BARRED, url


@pytest.mark.parametrize("url", ["", "imap", "smtp://h", "imaps://", "http://h", "imaps://h:99999", "imaps://127.1"])
async def test_promise_14_an_account_without_a_server_is_told_of(dovecot: Dovecot, url: str) -> None:
    account = replace(dovecot.account(dovecot.new()), servers={"imap": url})
    with pytest.raises(MailFailed, match="is incomplete") as refused:
        async with open_mailbox(account, dovecot.http()):
            pass
    assert refused.value.failure is MailFailure.WRONG


async def test_a_server_that_floods_or_falls_silent_is_left(dovecot: Dovecot) -> None:
    greeting = b"* OK hello\r\n"
    exceeded, unreachable = MailFailure.EXCEEDED, MailFailure.UNREACHABLE
    for answer, failure in (
        (b"* 1 FETCH (BODY[] {99999999999}\r\n", exceeded),
        (b"", unreachable),
        (b"* " + b"x" * 30_000_000, exceeded),
    ):

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: bytes = answer) -> None:
            writer.write(greeting + answer)
            await reader.read(10_000)
            writer.close()

        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        account = replace(dovecot.account(dovecot.new()), servers={"imap": f"imap://127.0.0.1:{port}"})
        with pytest.raises(MailFailed) as failed:
            async with open_mailbox(account, GuardedClient(allowed_hosts=[f"127.0.0.1:{port}"])):
                pass
        server.close()
        assert failed.value.failure is failure


async def test_a_cancelled_call_leaves_no_connection(dovecot: Dovecot) -> None:
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    connected = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await reader.read()
        heard.set_result(b"closed")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    account = replace(dovecot.account(dovecot.new()), servers={"imap": f"imap://127.0.0.1:{port}"})

    async def read() -> None:
        async with open_mailbox(account, GuardedClient(allowed_hosts=[f"127.0.0.1:{port}"])):
            pass

    reading = asyncio.create_task(read())
    await connected.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await heard == b"closed"
    server.close()


def test_what_stands_around_a_body_is_read_wherever_it_stands() -> None:
    before = (
        b'* 1 FETCH (UID 5 FLAGS (\\Seen $x) RFC822.SIZE 9 INTERNALDATE " 1-Mar-2026 09:30:00 +0000" BODY[]<0> {n})\r\n'
    )
    behind = b"* 2 FETCH (BODY[]<0> {n} UID 6 FLAGS () RFC822.SIZE 3)\r\n"
    others = b"* 3 FETCH (UID 7 FLAGS (\\Seen))\r\n"
    answers = [ImapResponse(before, (b"abc",)), ImapResponse(behind, (b"def",)), ImapResponse(others)]
    first, second, third = (stored_mail(answer, 7, 100) for answer in answers)
    assert first is not None
    assert second is not None
    assert third is None
    assert (first.uid, first.unread, first.whole, first.received) == (
        5,
        False,
        False,
        datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
    )
    assert (second.uid, second.unread, second.whole, second.data) == (6, True, True, b"def")


@pytest.mark.parametrize(
    ("name", "coded"),
    [
        ("~peter/mail/台北/日本語", b'"~peter/mail/&U,BTFw-/&ZeVnLIqe-"'),  # RFC 3501 5.1.3
        ("Entwürfe & mehr", b'"Entw&APw-rfe &- mehr"'),
        ('a\\b "c" 😀', b'"a\\\\b \\"c\\" &2D3eAA-"'),
    ],
)
def test_the_names_of_folders_are_coded_as_imap_has_them(name: str, coded: bytes) -> None:
    assert folder_argument(name) == coded
    assert decoded_name(coded[1:-1].replace(b'\\"', b'"').replace(b"\\\\", b"\\")) == name


@pytest.mark.parametrize("raw", [b"&A-", b"&!!!-", b"&2D0-", b"\xff&"])
def test_a_folders_name_in_no_valid_coding_is_shown_as_it_is(raw: bytes) -> None:
    assert decoded_name(raw) == raw.decode("ascii", "replace")


def test_an_id_means_one_message_whatever_the_folder_is_called() -> None:
    ref = MailRef("email", "work/2", "[Gmail]/Entwürfe & mehr", 1795459989, 42)
    assert MailRef.parse(str(ref)) == ref
    assert " " not in str(ref)
