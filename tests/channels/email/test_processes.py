"""The mailbox with real processes: `web` reads it, a worker answers, and a flood of mails costs little."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import psutil
import pytest

from tests.eventually import eventually
from tests.examples import sized
from tests.forker import Forked, Forker
from tests.kills.harness import System, open_system
from tests.patience import PATIENCE
from tests.scripted_model import ScriptedModel, echo
from tests.servers.dovecot import PASSWORD, Dovecot, mail_exchange

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(600)]

AUTHSERV = "mx.example.org"
PROOF = f"{AUTHSERV}; dkim=pass header.d=example.org; dmarc=pass header.from=example.org"
FLOOD = sized(300, full=10_000)
"""Mails that come at once; docs/measured/figures.md tells what the full size costs."""
FLOOD_PATIENCE = PATIENCE + 0.05 * FLOOD
MAX_GROWTH = 64 * 1024 * 1024
_READ = "select poll_offset & 4294967295 from channel_state where channel = 'email'"
_OPENED = "select poll_offset <> 0 from channel_state where channel = 'email'"
_IGNORED = "select reason from ignored_messages where channel = 'email' and key like 'uid:%'"
_OPEN = "select waiting_messages + running_turns + open_outbound from count_work()"


@dataclass(slots=True)
class Installation:
    """Web processes and a worker around a mailbox."""

    system: System
    dovecot: Dovecot
    valet: str
    environment: dict[str, str]
    delivered: int = 0
    people: dict[str, str] = field(default_factory=dict)

    def start(self, *words: str, **settings: str) -> Forked:
        """Start one of our processes."""
        environment, log = self.environment | settings, self.system.folder / f"{words[0]}.log"
        return self.system.forker.fork([*words], environment, log)

    def address(self, person: str) -> str:
        return self.people.setdefault(person, self.dovecot.new(person))

    def mail(self, person: str, text: str, id: str, **headers: str) -> None:
        """Put a mail of a person into the mailbox, proven unless `Authentication_Results` says otherwise."""
        mail = EmailMessage()
        known = {"Authentication-Results": PROOF, "From": self.address(person), "To": self.valet, "Message-ID": id}
        for name, value in (known | {name.replace("_", "-"): value for name, value in headers.items()}).items():
            mail[name] = value
        mail.set_content(text)
        self.dovecot.deliver(self.valet, mail.as_bytes())
        self.delivered += 1

    def got(self, person: str) -> list[EmailMessage]:
        """Return the mails that a person got."""
        found = (message_from_bytes(raw, policy=default) for raw in self.dovecot.mails(self.address(person)))
        return [mail for mail in found if isinstance(mail, EmailMessage)]

    async def is_read(self) -> bool:
        return bool(await self.system.admin.fetchval(_READ) == self.delivered)

    async def until_read(self) -> None:
        """Wait until all that came is committed."""
        await eventually(self.is_read, "that all is read", within=FLOOD_PATIENCE)

    async def until_quiet(self) -> None:
        """Wait until all that came is read, done and answered."""
        await self.until_read()
        await eventually(self.is_quiet, "that nothing is open")

    async def is_quiet(self) -> bool:
        return not await self.system.admin.fetchval(_OPEN)


@asynccontextmanager
async def installation(
    folder: Path, urls: tuple[str, str], forker: Forker, dovecot: Dovecot
) -> AsyncIterator[Installation]:
    """Start one web process that reads the mailbox, and a worker."""
    valet = dovecot.new("valet")
    async with (
        mail_exchange(dovecot) as exchange,
        open_system(folder, *urls, [], ScriptedModel(echo), forker) as system,
    ):
        environment = system.environment | {
            "PORT": "0",
            "ONEVALET_PLUGINS": "agents",
            "ONEVALET_MAIL_ADDRESS": valet,
            "ONEVALET_MAIL_IMAP_URL": f"imap://127.0.0.1:{dovecot.imap}",
            "ONEVALET_MAIL_AUTHSERV_ID": AUTHSERV,
            "SMTP_HOST": "127.0.0.1",
            "SMTP_PORT": str(exchange.port),
            "SMTP_USER": valet,
            "SMTP_PASSWORD": PASSWORD,
            "SMTP_FROM": f"Valet <{valet}>",
            "SMTP_SECURITY": "none",
        }
        yield Installation(system, dovecot, valet, environment)


async def end(*processes: Forked) -> None:
    """Ask processes to end, which they do well."""
    for process in processes:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def opened(house: Installation) -> None:
    """Wait until a process reads: what lay there before its first look was not meant for us."""
    await eventually(lambda: house.system.admin.fetchval(_OPENED), "the first look")


async def test_real_processes_answer_a_mail_in_its_thread(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker, dovecot: Dovecot
) -> None:
    async with installation(tmp_path, (database_url, redis_url), forker, dovecot) as house:
        processes = [house.start("web"), house.start("web"), house.start("worker", "--no-spare")]
        await opened(house)
        house.mail("ann", "When is lunch?", "<1@example.org>", Subject="Lunch")
        await eventually(lambda: len(house.got("ann")) == 1)
        (first,) = house.got("ann")
        house.mail(
            "ann",
            "And dinner?\n\n> When is lunch?",
            "<2@example.org>",
            References=f"<1@example.org> {first['Message-ID']}",
        )
        await eventually(lambda: len(house.got("ann")) == 2)
        house.mail("ann", "I am away.", "<3@example.org>", Auto_Submitted="auto-replied")
        house.mail("bob", "Hello.", "<4@example.org>")
        await eventually(lambda: len(house.got("bob")) == 1)
        await house.until_quiet()
        second = house.got("ann")[-1]
        await end(*processes)
    assert [text(mail) for mail in house.got("ann")] == ["echo: Lunch\n\nWhen is lunch?", "echo: And dinner?"]
    assert (first["In-Reply-To"], first["Subject"]) == ("<1@example.org>", "Re: Lunch")
    assert (second["In-Reply-To"], second["References"]) == ("<2@example.org>", "<2@example.org>")


async def test_promise_12_a_flood_costs_little_and_loses_nothing(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker, dovecot: Dovecot
) -> None:
    async with installation(tmp_path, (database_url, redis_url), forker, dovecot) as house:
        web = house.start("web")
        await opened(house)
        house.mail("ann", "Hello.", "<root@example.org>")  # while everybody is let in
        await house.until_read()
        await end(web)
        web = house.start("web", ONEVALET_ACCESS="pairing")
        memory = psutil.Process(web.pid)
        before = peak = memory.memory_info().rss
        sent = [flood(house, number) for number in range(FLOOD)]
        begun = asyncio.get_running_loop().time()

        async def is_read() -> bool:
            nonlocal peak
            peak = max(peak, memory.memory_info().rss)
            return await house.is_read()

        await eventually(is_read, "that the flood is read", within=FLOOD_PATIENCE)
        seconds = asyncio.get_running_loop().time() - begun
        worker = house.start("worker", "--no-spare")
        await house.until_quiet()
        ignored = await house.system.admin.fetch(_IGNORED)
        texts = [str(row["text"]) for row in await house.system.admin.fetch("select text from inbound")]
        answers = Counter({person: len(house.got(person)) for person in house.people})
        await end(web, worker)
    print(f"{FLOOD} mails in {seconds:.1f} s, {(peak - before) / 1e6:.0f} MB more")  # noqa: T201
    wanted = Counter(sent)
    assert Counter(str(row["reason"]) for row in ignored) == {name: wanted[name] for name in wanted if name != "ann"}
    assert sorted(texts) == sorted(["Hello.", *(f"ann {number}" for number in range(FLOOD) if sent[number] == "ann")])
    assert {person: count for person, count in answers.items() if count > 1 and person != "ann"} == {}
    assert {person for person in answers if answers[person]} <= {"ann", *(f"eve{n}" for n in range(20))}
    assert answers["ann"] > 0
    assert peak - before < MAX_GROWTH


def flood(house: Installation, number: int) -> str:
    """Put one mail of many into the mailbox; return what becomes of it."""
    id = f"<{number}@flood.example.org>"
    if number % 100 == 50:
        house.mail("ann", f"ann {number}", id, References="<root@example.org>")
        return "ann"
    match number % 5:
        case 0:
            house.mail(f"eve{number % 20}", "Let me in.", id)
            return "unknown"
        case 1:
            house.mail("list", "News!", id, List_Id="<news.example.org>", Precedence="list")
            return "bot"
        case 2:
            house.mail("away", "I am away.", id, Auto_Submitted="auto-replied")
            return "bot"
    house.mail("ann", "OK 7K " + "x " * 10_000, id, Authentication_Results=f"{AUTHSERV}; spf=pass")
    return "unproven"


def text(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n").strip()
