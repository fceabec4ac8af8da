"""Mail handed in at servers that say whatever they like: bounded in time and bytes, and closed at once."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from core.http.guarded_client import GuardedClient
from providers.email.servers import MailServer, Security, connect, server_of
from providers.email.smtp import SmtpFailed, SmtpFailure, SmtpLogin, open_submission
from providers.email.types import MailFailed, MailFailure
from tests.eventually import eventually
from tests.servers.hostile_mail import (
    CANARY,
    HostileServer,
    Manner,
    Talk,
    drips,
    falls_silent,
    floods,
    hostile_smtp,
    never_reads,
    says,
    takes,
)

LOGIN = SmtpLogin("ann", "s3cret")
BRIEF = 0.5
"""Seconds of a submission to a server that never comes to an end."""


@asynccontextmanager
async def connection(server: HostileServer) -> AsyncIterator[socket.socket]:
    """Yield a socket to a server, as people's accounts have them."""
    http = GuardedClient(allowed_hosts=[f"127.0.0.1:{server.port}"])
    yield await connect(server_of(server.account(), "smtp"), http)
    await http.close()


async def send(server: HostileServer, total: float, message: bytes = b"Subject: x\r\n\r\nx\r\n") -> None:
    """Hand a message in."""
    place = server_of(server.account(), "smtp")
    async with (
        connection(server) as connected,
        open_submission(place, LOGIN, connected=connected, total=total) as submission,
    ):
        await submission.address("ann@example.org", [f"{number}@example.org" for number in range(50)])
        await submission.send(message)


async def failure_of(server: HostileServer, total: float = 600.0, message: bytes = b"x\r\n") -> SmtpFailed:
    """Return how handing a message in fails."""
    with capture_logs() as logs, pytest.raises(SmtpFailed) as failed:
        await send(server, total, message)
    error: BaseException | None = failed.value
    while error is not None:
        assert CANARY not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert logs == []
    return failed.value


async def test_a_good_server_takes_a_message() -> None:
    async with hostile_smtp() as server:
        await send(server, 600.0)
        assert [line for line in server.talks[0].heard if line.startswith("DATA")] == ["DATA"]
        await eventually(lambda: not server.open_talks, "the end of the connection")


FLOODS: dict[str, tuple[str, Manner, SmtpFailure]] = {
    "a greeting of lines": ("GREETING", floods("220-x\r\n"), SmtpFailure.CONNECTION),
    "a greeting without an end": ("GREETING", floods("220 x"), SmtpFailure.CONNECTION),
    "extensions": ("EHLO", floods("250-X\r\n"), SmtpFailure.CONNECTION),
    "what was not asked for": ("RCPT", floods("250 good\r\n"), SmtpFailure.CONNECTION),
    "a refusal without an end": ("MAIL", floods(f"550-{CANARY}\r\n"), SmtpFailure.CONNECTION),
    "garbage": ("MAIL", says(f"{CANARY}"), SmtpFailure.CONNECTION),
    "garbage after the message": ("BODY", says(f"{CANARY}"), SmtpFailure.LOST),
    "another code after the message": ("BODY", says(f"251 {CANARY}"), SmtpFailure.LOST),
    "a refused sender": ("MAIL", says(f"550 {CANARY}"), SmtpFailure.SENDER),
    "a refusal": ("RCPT", says(f"550 {CANARY}"), SmtpFailure.RECIPIENT),
    "a refused login": ("AUTH", says(f"535 {CANARY}"), SmtpFailure.LOGIN),
    "a refused message": ("BODY", says(f"554 {CANARY}"), SmtpFailure.MESSAGE),
    "no such code": ("MAIL", says(f"-99 {CANARY}"), SmtpFailure.CONNECTION),
}


@pytest.mark.parametrize(("command", "manner", "failure"), FLOODS.values(), ids=FLOODS.keys())
async def test_whatever_is_said_ends_in_a_failure_without_its_words(
    command: str, manner: Manner, failure: SmtpFailure
) -> None:
    async with hostile_smtp({command: manner}) as server:
        assert (await failure_of(server)).failure is failure
        await eventually(lambda: not server.open_talks, "the end of the connection")


ENDLESS: dict[str, tuple[str, Manner, SmtpFailure]] = {
    "a greeting that drips": ("GREETING", drips(0.05, "220-"), SmtpFailure.TIMEOUT),
    "a greeting that never comes": ("GREETING", falls_silent, SmtpFailure.TIMEOUT),
    "a recipient that drips": ("RCPT", drips(0.05, "250-"), SmtpFailure.TIMEOUT),
    "a message that is never answered": ("BODY", falls_silent, SmtpFailure.LOST),
}


@pytest.mark.whole("it waits for a limit of real time")
@pytest.mark.parametrize(("command", "manner", "failure"), ENDLESS.values(), ids=ENDLESS.keys())
async def test_a_submission_ends_with_its_time(command: str, manner: Manner, failure: SmtpFailure) -> None:
    # Long enough to reach a message that is never answered, on any machine; the others need none.
    total = 5.0 if failure is SmtpFailure.LOST else BRIEF
    async with hostile_smtp({command: manner}) as server:
        assert (await failure_of(server, total)).failure is failure
        await eventually(lambda: not server.open_talks, "the end of the connection")


@pytest.mark.whole("it waits for a limit of real time")
async def test_slow_answers_to_each_recipient_are_counted_together() -> None:
    async with hostile_smtp({"RCPT": takes(0.2, says("250 good"))}) as server:
        assert (await failure_of(server, 3.0)).failure is SmtpFailure.TIMEOUT


@pytest.mark.whole("it waits for a limit of real time")
async def test_a_message_that_is_never_read_leaves_no_connection() -> None:
    async with hostile_smtp({"DATA": reads_no_more}) as server:
        place = server_of(server.account(), "smtp")
        async with connection(server) as connected:
            async with open_submission(place, LOGIN, connected=connected, total=5.0) as submission:
                await submission.address("ann@example.org", ["bob@example.org"])
                with pytest.raises(SmtpFailed, match="lost"):
                    await submission.send(b"x" * 30_000_000)
            await eventually(lambda: connected.fileno() == -1, "the end of the connection")


async def reads_no_more(talk: Talk) -> None:
    """Ask for the message, and read nothing of it."""
    await says("354 go on")(talk)
    await never_reads(talk)


class Late(GuardedClient):
    """Hands a socket out only when its server has reset it."""

    async def connect(self, host: str, port: int, ports: Collection[int]) -> socket.socket:
        connected = await super().connect(host, port, ports)

        def is_reset() -> bool:
            try:
                connected.getpeername()
            except OSError:
                return True
            return False

        await eventually(is_reset, "that the server resets the connection")
        return connected


async def test_a_server_that_resets_at_once_cannot_be_reached() -> None:
    async def reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        linked = writer.get_extra_info("socket")
        linked.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()

    async with await asyncio.start_server(reset, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        http = Late(allowed_hosts=[f"127.0.0.1:{port}"])
        with pytest.raises(MailFailed) as failed:
            await connect(MailServer("127.0.0.1", port, Security.NONE), http)
    assert failed.value.failure is MailFailure.UNREACHABLE
