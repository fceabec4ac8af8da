"""Email: both logins of the mailbox proved, and read from its mails who vouches for their senders."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from channels.email.setup import FIXES, read_signers
from onevalet.file_settings import without_login
from onevalet.init.dialogue import Dialogue, Wrong
from onevalet.init.doorway import Doorway
from onevalet.init.draft import Draft
from onevalet.wiring.channels import build_mailbox_login
from operations.doctor.mail_and_push import check_mail
from providers.email.client import MailboxClient, MailboxLogin
from providers.email.types import MailFailed

ADDRESS, SERVER, SIGNER = "ONEVALET_MAIL_ADDRESS", "ONEVALET_MAIL_IMAP_URL", "ONEVALET_MAIL_AUTHSERV_ID"
_SMTP = ("SMTP_HOST", "SMTP_PORT", "SMTP_SECURITY", "SMTP_USER", "SMTP_PASSWORD", "SMTP_FROM")
NAMES = (ADDRESS, SERVER, SIGNER, *_SMTP)
_STEPS = """\
  1. Create a mailbox that is the assistant's alone, at a server with IMAP and SMTP, and switch IMAP on.
  2. Where the provider has app passwords (Gmail, iCloud, Fastmail …), create one.
  3. Send a mail to it from elsewhere: it shows which server vouches for senders."""


def set_up_email(talk: Dialogue, draft: Draft, doorway: Doorway, ask_address: Callable[[], str]) -> None:
    """Ask until the mailbox opens and its server takes mail from us, then save. No public address is needed."""
    talk.say(_STEPS)
    address = talk.ask_until(
        ADDRESS, "Address of the mailbox", lambda answer: _shaped(draft, ADDRESS, answer), default=draft.value(ADDRESS)
    )[1]
    values, login = _ask_imap(talk, draft, address)
    values |= _ask_smtp(talk, draft, values)
    values[SIGNER] = _ask_signer(talk, draft, login)
    draft.save(values)
    talk.say(f"  Once OneValet runs, write to {address}: the answer comes in the same thread.")


def _ask_imap(talk: Dialogue, draft: Draft, address: str) -> tuple[dict[str, str], MailboxLogin]:
    """Return the settings of a mailbox that opened, and how it is opened."""
    kept = draft.value(SERVER) or f"imaps://imap.{address.rpartition('@')[2]}"
    user, password = draft.value("SMTP_USER") or address, draft.value("SMTP_PASSWORD")
    while True:
        shown = without_login(kept)
        answer = talk.ask_until(
            SERVER, "IMAP server (imaps://name)", lambda answer: _shaped(draft, SERVER, answer), default=shown
        )[1]
        url = kept = kept if answer == shown else answer
        user = talk.ask("SMTP_USER", "Login", default=user)
        password = talk.ask("SMTP_PASSWORD", "Password", default=password, secret=True)
        values = {SERVER: url, "SMTP_USER": user, "SMTP_PASSWORD": password}
        login = build_mailbox_login(draft.settings({ADDRESS: address} | values))
        try:
            _signers(login)
        except Wrong as wrong:
            talk.refuse(SERVER, wrong)
            continue
        talk.say("  The mailbox opens.")
        return {ADDRESS: address} | values, login


def _ask_smtp(talk: Dialogue, draft: Draft, values: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a server that lets us send."""
    name = urlsplit(values[SERVER]).hostname or ""
    host = draft.value("SMTP_HOST") or (f"smtp.{name.removeprefix('imap.')}" if name.startswith("imap.") else name)
    port = draft.value("SMTP_PORT") or "587"
    sender = draft.value("SMTP_FROM") or values[ADDRESS]
    security = talk.ask("SMTP_SECURITY", "") if talk.is_given("SMTP_SECURITY") else draft.value("SMTP_SECURITY")
    while True:
        host = talk.ask("SMTP_HOST", "SMTP server", default=host)
        port = talk.ask("SMTP_PORT", "Its port (587, or 465 for TLS from the start)", default=port)
        sender = talk.ask("SMTP_FROM", "Sender (such as Valet <valet@example.org>)", default=sender)
        told = {"SMTP_HOST": host, "SMTP_PORT": port, "SMTP_FROM": sender}
        told["SMTP_SECURITY"] = security or ("tls" if port == "465" else "starttls")
        try:
            _prove_sending(draft, told | {name: values[name] for name in ("SMTP_USER", "SMTP_PASSWORD")})
        except Wrong as wrong:
            talk.refuse("SMTP_HOST", wrong)
            continue
        talk.say("  The server takes mail from us.")
        return told


def _ask_signer(talk: Dialogue, draft: Draft, login: MailboxLogin) -> str:
    """Return the name of the server whose word about senders counts."""
    signers = _signers(login)
    while not signers and talk.interactive:
        talk.pause(f"  No mail there tells who vouches for senders. Send one to {login.address}, then press Enter … ")
        signers = _signers(login)
        if not signers and not talk.confirm("  Still none. Try again?", default=False):
            break
    found = [name for name, _ in signers.most_common(3)]

    def prove(answer: str) -> str:
        name = _shaped(draft, SIGNER, answer).lower()
        if found and not signers[name]:
            raise Wrong(f"No mail there has results of {name}, but of {', '.join(found)}: name your receiving server.")
        return name

    suggested = found[0] if found else draft.value(SIGNER)
    return talk.ask_until(SIGNER, "Server that vouches for senders", prove, default=suggested)[1]


def _shaped(draft: Draft, name: str, answer: str) -> str:
    """Return an answer that its setting takes; raise `Wrong` for another."""
    draft.settings({name: answer})
    return answer


def _signers(login: MailboxLogin) -> Counter[str]:
    try:
        return asyncio.run(_read_signers(login))
    except MailFailed as error:
        fix = FIXES.get(error.failure, "correct the server's address, or see whether it is away")
        raise Wrong(f"The mailbox does not open ({error.failure.value}): {fix}.") from error


async def _read_signers(login: MailboxLogin) -> Counter[str]:
    client = MailboxClient(login)
    try:
        return await read_signers(client)
    finally:
        await client.close()


def _prove_sending(draft: Draft, values: Mapping[str, str]) -> None:
    [check] = asyncio.run(check_mail(draft.settings(values)))
    if not check.ok:
        raise Wrong(f"{check.detail}: {check.fix}.")
