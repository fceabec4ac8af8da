"""The system of the approval races: two web processes, two workers, and people with three linked identities each."""

import asyncio
import base64
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import aiohttp
import asyncpg

from core.clock import Clock
from core.json_types import JsonObject
from tests.approvals.signed_posts import PUBLIC_URL, SECRET, SignedPosts
from tests.eventually import eventually
from tests.forker import Forker, plain_environment
from tests.ports import free_port
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from tests.spine.system import Member
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import Person, SimulatorConfig

type Admin = asyncpg.Pool[asyncpg.Record]


@dataclass(slots=True)
class RaceHarness:
    """All running parts. `admin` is a pool of superuser connections, which no row policy limits."""

    folder: Path
    people: tuple[Person, ...]
    simulator: Simulator
    posts: SignedPosts
    admin: Admin
    webs: list[Member] = field(default_factory=list)
    workers: list[Member] = field(default_factory=list)

    def tenant(self, person: Person) -> str:
        """Return a person's tenant."""
        return f"tn_{person.key}"

    def effects(self) -> list[tuple[int, str]]:
        """Return the number and word of every run of the tool."""
        lines = (self.folder / "effects").read_text().splitlines()
        return [(int(number), word) for number, word, _ in (line.split() for line in lines)]

    async def kill(self, number: int) -> None:
        """Kill a worker and start another in its place."""
        await self.workers[number].stop(signal.SIGKILL)
        await self.replace(self.workers[number])

    async def replace(self, worker: Member) -> None:
        """Start a worker in the place of a dead one, whose leases expire at once."""
        worker.start()
        await self.admin.execute("update lanes set lease_until = clock_timestamp() where owner is not null")
        await self.admin.execute("update outbound set lease_until = clock_timestamp() where owner is not null")

    def logs(self) -> str:
        """Return everything that the processes logged."""
        return "".join(process.log.read_text(errors="replace") for process in (*self.webs, *self.workers))


@asynccontextmanager
async def open_races(
    folder: Path, database_url: str, redis_url: str, people: int, forker: Forker, *, workers: int = 2
) -> AsyncIterator[RaceHarness]:
    """Run the system over an empty database that knows everybody with all three identities."""
    everyone = tuple(
        Person(f"a{n:02}", f"Person {n}", f"+1555040{n:04}", f"U0A{n:07}", 620_000_000 + n) for n in range(people)
    )
    (folder / "effects").touch()
    async with AsyncExitStack() as stack:
        ports = [free_port(), free_port()]
        config = SimulatorConfig(
            gateway_url=f"http://127.0.0.1:{ports[0]}", public_url=PUBLIC_URL, people=everyone, pace=0.05
        )
        simulator = await stack.enter_async_context(serve_simulator(config, Clock(), "127.0.0.1", 0))
        model = await stack.enter_async_context(ScriptedModel(_answer))
        http = await stack.enter_async_context(aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)))
        admin = await stack.enter_async_context(asyncpg.create_pool(database_url, min_size=1, max_size=4))
        posts = SignedPosts(config, [f"http://127.0.0.1:{port}" for port in ports], http, _channels(simulator))
        harness = RaceHarness(folder, everyone, simulator, posts, admin)
        environment = _environment(folder, database_url, redis_url, config, simulator, model)
        for number, port in enumerate(ports):
            log = folder / f"web{number}.log"
            harness.webs.append(Member(f"web{number}", "web", environment | {"PORT": str(port)}, log, forker))
        for number in range(workers):
            log = folder / f"worker{number}.log"
            harness.workers.append(Member(f"worker{number}", "worker", environment, log, forker))
        await _get_acquainted(harness)
        await forker.ready()
        stack.push_async_callback(_stop, harness)
        for member in (*harness.webs, *harness.workers):
            member.start()
        await _until_ready(harness)
        await _set_webhook(config, simulator, http)
        yield harness


def _answer(call: ModelCall) -> Reply:
    """Ask for the marks that the person wants: `marks 10 19`."""
    roles = [message.get("role") for message in call.messages]
    asked = max((at for at, role in enumerate(roles) if role == "user"), default=0)
    if "tool" in roles[asked:] or not call.last_user.startswith("marks "):
        return text("done")
    first, last = map(int, call.last_user.split()[1:3])
    wanted: list[tuple[str, JsonObject | str]] = [
        ("leave_mark", {"number": number, "word": "asked"}) for number in range(first, last + 1)
    ]
    return calls(*wanted)


async def _get_acquainted(harness: RaceHarness) -> None:
    config = harness.posts.config
    for person in harness.people:
        tenant = harness.tenant(person)
        await harness.admin.execute(
            "insert into tenants (tenant_id, name, timezone) values ($1,$2,'UTC')", tenant, person.name
        )
        for channel, account, key in (
            ("sms", config.twilio.number, person.phone),
            ("slack", config.slack.team_id, person.slack_user),
            ("telegram", str(config.telegram.bot_id), str(person.telegram_user)),
        ):
            await harness.admin.execute(
                "insert into identities (tenant_id, id, channel, account, user_key, name, timezone, admitted)"
                " values ($1,$2,$3,$4,$5,$6,'UTC','pairing')",
                tenant,
                f"idn_{channel}_{person.key}",
                channel,
                account,
                key,
                person.name,
            )


def _channels(simulator: Simulator) -> dict[str, str]:
    state = cast(dict[str, Any], simulator.providers["slack"].state())
    return {key: person["channel"] for key, person in state["people"].items()}


async def _set_webhook(config: SimulatorConfig, simulator: Simulator, http: aiohttp.ClientSession) -> None:
    url = f"{simulator.telegram_url}/bot{config.telegram.bot_token}/setWebhook"
    wanted = {"url": f"{PUBLIC_URL}/webhooks/telegram", "secret_token": SECRET}
    async with http.post(url, json=wanted) as answer:
        assert answer.status == 200, await answer.text()


async def _until_ready(harness: RaceHarness) -> None:
    async def is_ready(url: str) -> bool:
        try:
            async with harness.posts.http.get(f"{url}/readyz") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    for web in harness.webs:
        await eventually(partial(is_ready, web.url), f"{web.url} that is ready")


async def _stop(harness: RaceHarness) -> None:
    await asyncio.gather(*(member.stop() for member in (*harness.webs, *harness.workers)))


def _environment(
    folder: Path, database_url: str, redis_url: str, config: SimulatorConfig, simulator: Simulator, model: ScriptedModel
) -> dict[str, str]:
    return plain_environment() | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PUBLIC_URL": PUBLIC_URL,
        "ONEVALET_ACCESS": "pairing",
        "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
        "ONEVALET_RATE_PER_MINUTE": "100000",
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_MEMORY": "off",
        "ONEVALET_PLUGINS": "tests.plugins.consent",
        "ONEVALET_LOOP_MAX_CARDS_PER_ANSWER": "14",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_API_BASE": model.url,
        "TWILIO_ACCOUNT_SID": config.twilio.account_sid,
        "TWILIO_AUTH_TOKEN": config.twilio.auth_token,
        "TWILIO_FROM": config.twilio.number,
        "TWILIO_API_URL": simulator.twilio_url,
        "SLACK_BOT_TOKEN": config.slack.bot_token,
        "SLACK_SIGNING_SECRET": config.slack.signing_secret,
        "SLACK_API_URL": simulator.slack_url,
        "TELEGRAM_BOT_TOKEN": config.telegram.bot_token,
        "TELEGRAM_WEBHOOK_SECRET": SECRET,
        "TELEGRAM_API_URL": simulator.telegram_url,
        "CONSENT_FOLDER": str(folder),
    }
