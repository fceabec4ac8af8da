"""A mail server that passes nothing on: received mail is in the journal only."""

import asyncio
from collections.abc import Iterable
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from aiohttp import web
from aiosmtpd.smtp import SMTP, Envelope, Session

from workbench.simulator.base import BadAction, OpenedFile, Wire
from workbench.simulator.config import Person
from workbench.simulator.journal import Call, Json
from workbench.simulator.keeping import Drawer, Form

_LONGEST = 20_000
_FORM = Form(list[Json])


class MailSimulator:
    """Accepts any mail on a port of 127.0.0.1, without TLS and password. `port` is known once it runs."""

    name = "mail"

    def __init__(self, wire: Wire) -> None:
        self.port = 0
        self._wire = wire
        self._server: asyncio.Server | None = None
        self._taken: list[Json] = []

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return ()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: SMTP(self, hostname="simulator"), "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    @property
    def delivers(self) -> bool:
        return False

    def join(self, person: Person) -> None:
        """Do nothing: people have no mailboxes here."""

    async def reset(self) -> None:
        self._taken.clear()

    def save(self, drawer: Drawer) -> bytes:
        return _FORM.write(list(self._taken), drawer)

    def load(self, kept: bytes, drawer: Drawer) -> None:
        self._taken = _FORM.read(kept, drawer)

    def resume(self) -> None:
        """Do nothing: a mail is taken in a single step, so no work is interrupted."""

    def state(self) -> Json:
        return list(self._taken)

    async def act(self, person_key: str, action: str, arguments: dict[str, Json]) -> Json:
        raise BadAction("The mail server only takes mail.")

    def file(self, file_id: str) -> OpenedFile | None:
        return None

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Accept a mail, as aiosmtpd calls it."""
        content = envelope.content if isinstance(envelope.content, bytes) else b""
        message = message_from_bytes(content, _class=EmailMessage, policy=default)
        part = message.get_body(("plain",))
        text = part.get_content() if part is not None else ""
        mail: dict[str, Json] = {
            "id": str(message["Message-ID"] or ""),
            "from": str(envelope.mail_from),
            "to": [str(recipient) for recipient in envelope.rcpt_tos],
            "subject": str(message["Subject"] or ""),
            "text": str(text).replace("\r\n", "\n")[:_LONGEST],
        }
        self._taken.append(mail)
        self._wire.journal.add(Call(self._wire.now(), self.name, "out", "mail.send", 250, mail, "OK, kept here"))
        return "250 OK, kept here"
