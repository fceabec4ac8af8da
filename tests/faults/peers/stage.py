"""What stands around the processes that speak to peers: addresses, accounts, settings, and what is seen of them."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp
import psutil

from abilities.tasks.engine import TriggerEngine
from abilities.tasks.reminders import TellExecutor
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.ids import make_id
from core.json_types import JsonObject
from core.queue.wakeups import NoWakeups
from tests.eventually import eventually
from tests.faults.database import read_text
from tests.faults.harness import SECRET_KEY, Harness, set_up_channels
from tests.faults.journals import append, read
from tests.faults.members import Member
from tests.faults.peers.asking import asking_for
from tests.faults.peers.hooks import TICKS
from tests.faults.peers.judging import Late
from tests.faults.peers.serving import JOURNAL, PeerPlan
from tests.faults.phone_driver import Saying
from tests.forker import Forked, plain_environment
from tests.ports import free_port
from workbench.simulator.config import Person

_TENANT = "select tenant_id from identities where user_key = $1"
_ERROR = re.compile(r"[a-zA-Z_][\w.]*(Error|Exception|Group|Exceeded|Failed|Away|Lost)\b")
_MEGABYTE = 1024 * 1024
_SAMPLE = 0.1
_UNFORESEEN = ("Traceback (most recent call last)", "work_failed")


@dataclass(slots=True)
class Cell:
    """One client with one peer: its person, and the peer's address."""

    plan: PeerPlan
    person: Person
    tenant: str = ""
    token: str = ""
    since: float = 0.0
    """When the product was made to speak to it."""
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.plan.cell

    @property
    def address(self) -> JsonObject:
        """Return the address as a mail account has it."""
        return {"host": self.plan.host, "port": self.plan.port, "tls": "implicit" if self.plan.is_secure else "none"}


@dataclass(slots=True)
class Stage:
    """All of it. `other`: whose texts are timed."""

    harness: Harness
    database: Database
    session: aiohttp.ClientSession
    port: int
    settings: dict[str, str]
    used: int = 0
    said: list[Saying] = field(default_factory=list)
    """What must be answered, once."""
    calm_address: JsonObject = field(default_factory=dict)
    """A server that is as it should be, which somebody else uses."""

    @property
    def other(self) -> Person:
        return self.harness.people[0]

    def next_person(self) -> Person:
        """Return somebody who had nothing to do with a peer yet."""
        self.used += 1
        return self.harness.people[self.used]

    @property
    def now(self) -> float:
        """Return the time as the providers' journal has it."""
        return time.time()

    @property
    def store(self) -> CredentialStore:
        return CredentialStore(self.database, SecretKeys([read_secret_key(SECRET_KEY)]))

    @property
    def engine(self) -> TriggerEngine:
        return TriggerEngine(self.database, make_id, Clock(self.harness.clock), NoWakeups(), executors=[TellExecutor()])

    async def begin(self, settings: Mapping[str, str]) -> None:
        """Begin our processes anew, with these settings."""
        harness, is_first = self.harness, not self.harness.has_begun
        self.settings = {**settings, "FAULTS_PEERS": "on"}
        await asyncio.gather(*(member.kill_for_good() for member in harness.members))
        for member in harness.members:
            member.start(**self.settings)
        await asyncio.gather(*(harness.until_ready(web) for web in harness.webs))
        if is_first:
            await set_up_channels(harness)

    def start(self, plan: PeerPlan) -> Forked:
        """Start a peer in a process of its own."""
        path, folder = plan.write(self.harness.folder), self.harness.folder
        return self.harness.forker.fork(
            [str(path)], plain_environment(), folder / "peers.log", module="tests.faults.peers.serving"
        )

    async def listens(self, plan: PeerPlan) -> None:
        """Wait until a peer listens at both of its addresses."""

        async def connects() -> bool:
            for host in (plan.elsewhere, plan.host):
                _, writer = await asyncio.open_connection(host, plan.port)
                writer.transport.abort()
            return True

        async def tried() -> bool:
            try:
                return await connects()
            except OSError:
                return False

        await eventually(tried, f"the peer {plan.cell}")

    async def known(self, cell: Cell) -> None:
        """Let a cell's person write once, by which they are known."""
        token = await self.says(cell.person)
        await self.until_told(cell.person, token)
        cell.tenant = await self.tenant_of(cell.person)

    async def tenant_of(self, person: Person) -> str:
        """Return who a person is."""
        return await read_text(self.harness, _TENANT, person.phone)

    async def says(self, person: Person) -> str:
        """Let a person write; return the token of the text."""
        token = self.harness.token(person.key)
        await self.harness.act(person.key, "twilio", "say", text=token)
        append(self.harness.folder / "phones.jsonl", event="said", status=200, token=token, person=person.key)
        self.said.append(Saying(0.0, token, person.key, "sms", token))
        return token

    async def asks(self, cell: Cell, tool: str, arguments: JsonObject) -> None:
        """Let a cell's person write what makes a tool be called."""
        cell.token = self.harness.token(cell.person.key)
        cell.since = self.now
        await self.harness.act(
            cell.person.key, "twilio", "say", text=asking_for(cell.token, tool, arguments), wait=True
        )

    async def texts_to(self, person: Person, since: float = 0.0) -> Sequence[str]:
        """Return what a person was sent by SMS."""
        url = f"{self.harness.simulator_url}/sim/journal?provider=twilio&last=60"
        async with self.session.get(url) as answer:
            journal = await answer.json()
        return [
            str(call["request"]["body"]["Body"])
            for call in journal
            if call["endpoint"] == "twilio.messages.create"
            and call["request"]["body"].get("To") == person.phone
            and float(call["at"]) >= since
        ]

    async def until_told(self, person: Person, words: str, since: float = 0.0) -> str:
        """Wait until a person is sent these words; return the whole text."""

        async def told() -> str:
            return next((text for text in await self.texts_to(person, since) if words in text), "")

        return await eventually(told, f"{words} for {person.key}")

    async def talk(self, within: float) -> float:
        """Let somebody else write, and return how many seconds the answer took; `within` where there was none."""
        began = time.monotonic()
        token = await self.says(self.other)
        while (took := time.monotonic() - began) < within:
            if any(token in text for text in await self.texts_to(self.other)):
                return took
            await asyncio.sleep(0.02)  # it is timed: the looks are close to each other
        return took

    def met(self, plan: PeerPlan) -> Sequence[JsonObject]:
        """Return what a peer has noted."""
        return [line for line in read(self.harness.folder / JOURNAL) if line["cell"] == plan.cell]

    def late(self, since: float) -> Sequence[Late]:
        """Return the ticks of all loops that came late since a moment."""
        lines = read(self.harness.folder / TICKS)
        return [
            Late(_float(line["late"]), _float(line["used"]), str(line["where"]))
            for line in lines
            if _float(line["at"]) >= since
        ]


def _float(value: object) -> float:
    return float(str(value))


@dataclass(slots=True)
class Meter:
    """The memory of our processes, and what their logs say, over one cell."""

    members: Sequence[Member]
    before: Mapping[str, float]
    most: Mapping[str, float]
    logs: dict[str, int] = field(default_factory=dict)

    @property
    def grown(self) -> float:
        """Return by how many megabytes they grew at the most."""
        return self.held - sum(self.before.values())

    @property
    def held(self) -> float:
        """Return the most megabytes that they held."""
        return sum(self.most.values())

    @property
    def grew(self) -> str:
        """Return which processes grew by how many megabytes until then, the most first."""
        by = {name: self.most.get(name, 0.0) - self.before.get(name, 0.0) for name in {*self.before, *self.most}}
        ordered = sorted(by, key=by.__getitem__, reverse=True)
        return ", ".join(f"{name} {by[name]:+.0f}" for name in ordered if abs(by[name]) >= 1)

    def errors(self) -> list[str]:
        """Return the lines of their logs that nobody foresaw."""
        found: list[str] = []
        for member in self.members:
            text = member.log.read_text(errors="replace")[self.logs[member.name] :]
            if any(words in text for words in _UNFORESEEN):
                lines = text.splitlines()
                at = next(n for n, line in enumerate(lines) if any(words in line for words in _UNFORESEEN))
                named = next((line for line in lines[at:] if _ERROR.match(line)), "")
                found.append(f"{member.name}: {' '.join(lines[max(0, at - 1)].split())[:200]} {named[:200]}")
        return found

    def look(self) -> None:
        """Measure once."""
        self.most = max(self.most, memory(self.members), key=lambda held: sum(held.values()))

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_SAMPLE)


def memory(members: Sequence[Member]) -> dict[str, float]:
    """Return the megabytes that processes and all that they have started hold, by name and number.

    A process of ours is forked, and so are the readers of files: what they share with the one that forked them counts
    for it, not once more for each of them.
    """
    held: dict[str, float] = {}
    for member in members:
        for pid in member.processes:
            with suppress(psutil.Error):
                own = psutil.Process(pid)
                held[f"{member.name} {pid}"] = own.memory_info().rss / _MEGABYTE
                for child in own.children(recursive=True):
                    with suppress(psutil.Error):
                        held[f"{child.name()} {child.pid} of {member.name}"] = child.memory_full_info().uss / _MEGABYTE
    return held


@asynccontextmanager
async def metered(members: Sequence[Member]) -> AsyncIterator[Meter]:
    """Measure processes for the block."""
    before = memory(members)
    meter = Meter(members, before, before)
    meter.logs = {member.name: len(member.log.read_text(errors="replace")) for member in members}
    watching = asyncio.create_task(meter.watch())
    try:
        yield meter
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        meter.look()


@asynccontextmanager
async def open_stage(harness: Harness) -> AsyncIterator[Stage]:
    """Set it up for the block."""
    database = Database(harness.url)
    try:
        async with aiohttp.ClientSession() as session:
            yield Stage(harness, database, session, free_port(), {})
    finally:
        await database.close()
