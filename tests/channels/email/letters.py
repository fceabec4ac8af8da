"""Mails as a receiving server stores them."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import Any

import pytest

from channels.email.parse import Account, Mail
from channels.email.receive import read_mail
from core.messaging.inbound import Inbound
from providers.email import messages
from providers.email.reading import mail as reader

VALET = Account("valet@example.org", "mx.example.org")
PASSED = "mx.example.org; dkim=pass header.d=example.com; dmarc=pass header.from=example.com"


def letter(
    text: str = "Hello",
    *,
    subject: str = "",
    sender: str = "Ada Lovelace <ada@example.com>",
    proof: Sequence[str] = (PASSED,),
    id: str = "<one@example.com>",
    html: str = "",
    **headers: str,
) -> bytes:
    """Return a mail of Ada's; `headers` are further ones, with _ for -."""
    mail = EmailMessage()
    for result in proof:
        mail["Authentication-Results"] = result
    mail["From"], mail["To"] = sender, "valet@example.org"
    mail["Date"] = "Mon, 23 Nov 2026 09:00:00 +0100"
    if subject:
        mail["Subject"] = subject
    if id:
        mail["Message-ID"] = id
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    return mail.as_bytes()


def stored(raw: bytes, uid: int = 7) -> Mail:
    """Return a mail as the mailbox keeps it."""
    return Mail(1, uid, len(raw), raw)


def understood(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> Sequence[Inbound]:
    """Return what a mail means, its reader called in this process: what reads it in one of its own has its tests."""

    async def read_here(
        _script: object, asked: Mapping[str, Any], data: bytes, **_: object
    ) -> tuple[Mapping[str, Any], bytes]:
        found, body = reader.read(asked, data)
        return json.loads(json.dumps(found)), body

    with monkeypatch.context() as patched:
        patched.setattr(messages, "ask_child", read_here)
        return asyncio.run(read_mail(mail, VALET))
