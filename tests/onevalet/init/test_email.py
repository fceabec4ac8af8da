"""Email, played through in a terminal against a real Dovecot, with every wrong answer before; and by flags."""

import asyncio
from pathlib import Path

import pytest

from tests.onevalet.init.terminal import Terminal, opened, run, saved
from tests.servers.dovecot import PASSWORD, Dovecot, MailExchange, mail_exchange

pytestmark = pytest.mark.slow
MAIL = (
    b"Authentication-Results: mx.example.org; dmarc=pass header.from=example.net\r\n"
    b"From: ann@example.net\r\nTo: valet@example.org\r\nSubject: hello\r\n\r\nhello\r\n"
)


async def test_a_mailbox_is_proved_both_ways_and_says_who_vouches(tmp_path: Path, dovecot: Dovecot) -> None:
    address = dovecot.new("valet")

    def play(terminal: Terminal, exchange: MailExchange) -> None:
        terminal.reply("Where will OneValet run?", "dev")
        terminal.reply("Set up a model?", "n")
        for name in ("Telegram", "SMS", "Slack"):
            terminal.reply(f"Set up {name}?", "n")
        terminal.see("app passwords")  # a flag of its says that it is wanted
        terminal.reply("Address of the mailbox: ", "valet")
        terminal.see("ONEVALET_MAIL_ADDRESS cannot be used: must be an address such as")
        terminal.reply("Address of the mailbox: ", address)
        terminal.reply("IMAP server (imaps://name) [imaps://imap.example.org]: ", "http://imap.example.org")
        terminal.see("ONEVALET_MAIL_IMAP_URL cannot be used: must be an address such as imaps://")
        terminal.reply("IMAP server", f"imap://127.0.0.1:{dovecot.imap}")
        terminal.reply(f"Login [{address}]: ", "")
        terminal.reply("Password: ", "wrong")
        terminal.see("The mailbox does not open (", "correct SMTP_USER and SMTP_PASSWORD")
        terminal.reply("IMAP server", "")
        terminal.reply("Login", "")
        terminal.reply("Password (Enter keeps the present one): ", PASSWORD)
        terminal.see("The mailbox opens.")
        terminal.reply("SMTP server [127.0.0.1]: ", "")
        terminal.reply("Its port", str(dovecot.imap))
        terminal.reply("Sender", "")
        terminal.see(f"127.0.0.1:{dovecot.imap}: ", "correct SMTP_HOST, SMTP_PORT")
        terminal.reply("SMTP server", "")
        terminal.reply("Its port", str(exchange.port))
        terminal.reply("Sender", f"Valet <{address}>")
        terminal.see("The server takes mail from us.", f"Send one to {address}, then press Enter")
        terminal.type()
        terminal.reply("Still none. Try again?", "y")
        dovecot.deliver(address, MAIL)
        terminal.reply("press Enter … ", "")
        terminal.reply("Server that vouches for senders [mx.example.org]: ", "mx.example.com")
        terminal.see("No mail there has results of mx.example.com, but of mx.example.org")
        terminal.reply("Server that vouches for senders", "")
        terminal.see(f"write to {address}", "Saved to .env")
        assert terminal.end() == 0
        assert PASSWORD not in terminal.shown

    async with mail_exchange(dovecot) as exchange:
        with opened(tmp_path, "--set", "SMTP_SECURITY=none") as terminal:
            await asyncio.to_thread(play, terminal, exchange)
        expected = settings(dovecot, exchange, address)
    assert saved(tmp_path) == expected | {"SMTP_FROM": f"Valet <{address}>"}


async def test_flags_set_a_mailbox_up_and_a_wrong_password_is_an_error(tmp_path: Path, dovecot: Dovecot) -> None:
    address = dovecot.new("valet")
    dovecot.deliver(address, MAIL)
    async with mail_exchange(dovecot) as exchange:
        wanted = settings(dovecot, exchange, address)
        words = [word for name, value in wanted.items() for word in ("--set", f"{name}={value}")]
        wrong = [word.replace(PASSWORD, "wrong") for word in words]
        code, _, errors = await asyncio.to_thread(run, tmp_path, *wrong)
        assert (code, errors.startswith("ONEVALET_MAIL_IMAP_URL: The mailbox does not open")) == (2, True)
        assert saved(tmp_path) == {}
        code, _, errors = await asyncio.to_thread(run, tmp_path, *words)
    assert (code, errors) == (0, "")
    assert saved(tmp_path) == wanted


def settings(dovecot: Dovecot, exchange: MailExchange, address: str) -> dict[str, str]:
    """Return what is saved for a mailbox."""
    return {
        "ONEVALET_MAIL_ADDRESS": address,
        "ONEVALET_MAIL_IMAP_URL": f"imap://127.0.0.1:{dovecot.imap}",
        "ONEVALET_MAIL_AUTHSERV_ID": "mx.example.org",
        "SMTP_HOST": "127.0.0.1",
        "SMTP_PORT": str(exchange.port),
        "SMTP_SECURITY": "none",
        "SMTP_USER": address,
        "SMTP_PASSWORD": PASSWORD,
        "SMTP_FROM": address,
    }
