"""A password is tried on the event loop: a server that drips, floods or falls silent holds up nobody."""

import asyncio
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from abilities.accounts.trials import Trials
from abilities.mail.trial import try_mailbox
from core.credentials.trial import Fault, TrialFailed
from core.credentials.types import OpenAccount
from core.http.guarded_client import GuardedClient
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
    hostile_smtp,
    says,
)

BRIEF = 0.5
"""Seconds of a trial with a server that never comes to an end."""


async def failure_of(server: HostileServer, account: OpenAccount | None = None) -> TrialFailed:
    """Return how a trial at a server fails."""
    http = server.http()
    try:
        with pytest.raises(TrialFailed) as failed:
            await try_mailbox(account or server.account(), http)
        return failed.value
    finally:
        await http.close()


async def refuses_imap(talk: Talk) -> None:
    """Refuse a login in words."""
    await talk.say(f"{talk.tag} NO [{CANARY.upper()}] {CANARY}\r\n")


async def starts_no_tls(talk: Talk) -> None:
    """Agree to TLS, and drip in its place."""
    await talk.say(f"{talk.tag} OK begin\r\n")
    await drips(0.05)(talk)


async def test_a_mailbox_that_opens_is_taken() -> None:
    async with hostile_imap() as imap, hostile_smtp() as smtp:
        http = GuardedClient(allowed_hosts=[f"127.0.0.1:{imap.port}", f"127.0.0.1:{smtp.port}"])
        await try_mailbox(imap.account(smtp=f"smtp://127.0.0.1:{smtp.port}"), http)
        await http.close()
        assert smtp.talks[0].heard[1].startswith("AUTH PLAIN ")
        await eventually(lambda: not imap.open_talks and not smtp.open_talks, "the end of the connections")


ENDLESS: dict[str, tuple[str, Manner]] = {
    "a greeting that drips": ("GREETING", drips(0.05)),
    "a greeting that never comes": ("GREETING", falls_silent),
    "a login that drips": ("LOGIN", drips(0.05)),
    "a login that is never answered": ("LOGIN", falls_silent),
}
FLOODS: dict[str, tuple[str, Manner]] = {
    "a greeting without an end": ("GREETING", floods("* OK ")),
    "lines": ("LOGIN", floods("* 1 EXISTS\r\n")),
    "to go on": ("LOGIN", floods("+ \r\n")),
    "no greeting": ("GREETING", says(CANARY)),
    "a farewell": ("GREETING", says(f"* BYE {CANARY}")),
}


@pytest.mark.parametrize(("command", "manner"), [*ENDLESS.values(), *FLOODS.values()], ids=[*ENDLESS, *FLOODS])
async def test_an_imap_server_that_speaks_otherwise_is_told_and_left(
    command: str, manner: Manner, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (command, manner) in ENDLESS.values():
        monkeypatch.setattr("abilities.mail.trial.SECONDS", BRIEF)
    async with hostile_imap({command: manner}) as server:
        with capture_logs() as logs:
            failed = await failure_of(server)
        assert (failed.fault, "does not answer as an IMAP server" in str(failed)) == (Fault.IMAP, True)
        assert CANARY not in f"{failed} {failed.__cause__!r} {logs}"
        assert server.sent < 10_000_000
        await eventually(lambda: not server.open_talks, "the end of the connection")


SMTP_ENDLESS: dict[str, tuple[str, Manner]] = {
    "a greeting that drips": ("GREETING", drips(0.05, "220-")),
    "a greeting that never comes": ("GREETING", falls_silent),
    "a login that is never answered": ("AUTH", falls_silent),
}
SMTP_FLOODS: dict[str, tuple[str, Manner]] = {
    "a greeting of lines": ("GREETING", floods("220-x\r\n")),
    "a greeting without an end": ("GREETING", floods("220 x")),
    "extensions": ("EHLO", floods("250-X\r\n")),
    "garbage": ("EHLO", floods(f"{CANARY}\r\n")),
    "another greeting": ("GREETING", says(f"554 {CANARY}")),
    "no way to log in": ("EHLO", says("250 here")),
}


@pytest.mark.parametrize(
    ("command", "manner"), [*SMTP_ENDLESS.values(), *SMTP_FLOODS.values()], ids=[*SMTP_ENDLESS, *SMTP_FLOODS]
)
async def test_an_smtp_server_that_speaks_otherwise_is_told_and_left(
    command: str, manner: Manner, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (command, manner) in SMTP_ENDLESS.values():
        monkeypatch.setattr("abilities.mail.trial.SECONDS", BRIEF)
    async with hostile_smtp({command: manner}) as server:
        with capture_logs() as logs:
            failed = await failure_of(server)
        assert (failed.fault, "does not answer as an SMTP server" in str(failed)) == (Fault.SMTP, True)
        assert CANARY not in f"{failed} {failed.__cause__!r} {logs}"
        assert server.sent < 10_000_000
        await eventually(lambda: not server.open_talks, "the end of the connection")


async def test_a_refused_login_is_the_persons_to_correct() -> None:
    async with hostile_imap({"END LOGIN": refuses_imap}) as imap, hostile_smtp({"AUTH": says("535 no")}) as smtp:
        for server, name in ((imap, "IMAP"), (smtp, "SMTP")):
            failed = await failure_of(server)
            assert failed.fault is Fault.LOGIN
            assert str(failed) == f"The {name} server 127.0.0.1 does not accept this login or password."
            assert CANARY not in repr(failed.__cause__).lower()
        surrogate = await failure_of(imap, replace(imap.account(), secret="\udcff"))
        assert surrogate.fault is Fault.LOGIN


@pytest.mark.parametrize("scheme", ["imap+starttls", "smtp+starttls", "imaps", "smtps"])
async def test_a_handshake_that_drips_ends_with_the_trial(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abilities.mail.trial.SECONDS", BRIEF)
    manners: dict[str, Manner] = {"STARTTLS": starts_no_tls} if "+" in scheme else {"GREETING": drips(0.05, "")}
    run = hostile_imap if scheme.startswith("imap") else hostile_smtp
    async with run(manners) as server:
        account = replace(server.account(), servers={scheme[:4]: f"{scheme}://127.0.0.1:{server.port}"})
        assert "does not answer as an" in str(await failure_of(server, account))
        await eventually(lambda: not server.open_talks, "the end of the connection")


@pytest.mark.parametrize("scheme", ["imaps", "smtps"])
async def test_a_certificate_that_is_not_valid_is_told(scheme: str, tmp_path: Path) -> None:
    run = hostile_imap if scheme == "imaps" else hostile_smtp
    async with run(tls=certified(tmp_path)) as server:
        failed = await failure_of(server)
        assert str(failed) == "The certificate of localhost is not valid, so no password is sent there."
        assert not any(talk.heard for talk in server.talks)


async def test_no_thread_waits_for_a_server_and_names_are_resolved_meanwhile() -> None:
    async with hostile_imap({"GREETING": drips(0.05)}) as server:
        http = server.http()
        people = [replace(server.account(), person=f"guest{number}") for number in range(20)]
        trying = [asyncio.create_task(try_mailbox(account, http)) for account in people]
        await eventually(lambda: server.open_talks == len(people), "all trials at once")
        loop = asyncio.get_running_loop()
        assert await loop.getaddrinfo("localhost", 1, type=socket.SOCK_STREAM)
        assert await asyncio.to_thread(threading.get_ident)
        for task in trying:
            task.cancel()
        await asyncio.wait(trying)
        await eventually(lambda: not server.open_talks, "the end of the connections")
        await http.close()


async def test_one_password_of_a_person_is_tried_at_a_time() -> None:
    async with hostile_imap({"GREETING": falls_silent}) as server:
        http = server.http()
        account, trials = replace(server.account(), person="guest"), Trials({"email": lambda: try_mailbox})
        trying = [asyncio.create_task(trials.run(account, http)) for _ in range(5)]
        other = asyncio.create_task(trials.run(replace(account, person="ann"), http))
        await eventually(lambda: server.open_talks == 2, "a trial of each")
        trying[0].cancel()
        await eventually(lambda: len(server.talks) == 3, "the next trial")
        assert server.open_talks <= 2
        for task in (*trying, other):
            task.cancel()
        await asyncio.wait([*trying, other])
        await http.close()
