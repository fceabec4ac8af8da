"""The people that `dev` admits without a code: the simulator's first person and this terminal's user."""

import getpass
from dataclasses import asdict, dataclass

import structlog

from channels.terminal.parse import ACCOUNT
from core.credentials.store import CredentialError, CredentialStore
from core.db.database import Database
from core.ids import make_id
from core.json_types import JsonObject
from core.people.access_policy import PersonRole
from onevalet.wiring.connections import database_url
from onevalet.wiring.secret_keys import secret_keys
from workbench.dev.simulator_wiring import Simulated
from workbench.simulator.config import Person, SimulatorConfig

EMAIL, SIMULATED = "email", "simulator"
"""The service that email is sent with, and the name of the simulator's account of it."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Seed:
    """An identity to admit, as its channel names it."""

    channel: str
    account: str
    user_key: str


async def bring_in_owner(simulated: Simulated, config: SimulatorConfig, mail_port: int) -> None:
    """Admit the simulator's first person and this terminal's user, as the same owner; the policy is for all others."""
    settings, person = simulated.settings, config.people[0]
    database = Database(database_url(settings), size=1, name="onevalet dev")
    try:
        tenant = await seed_person(database, _identities(simulated, config, person), person, PersonRole.OWNER)
        await _connect_mail(CredentialStore(database, secret_keys(settings)), tenant, person, mail_port)
    finally:
        await database.close()


def addresses_of(config: SimulatorConfig, key: str) -> list[tuple[str, str, str]]:
    """Return the addresses of a simulated person: channel, account, and their key there; empty if unknown."""
    person = config.person(key)
    if person is None:
        return []
    return [(seed.channel, seed.account, seed.user_key) for seed in _addresses(config, person)]


def _identities(simulated: Simulated, config: SimulatorConfig, person: Person) -> list[Seed]:
    here = Seed("terminal", ACCOUNT, getpass.getuser())
    return [*(seed for seed in _addresses(config, person) if seed.channel in simulated.channels), here]


def _addresses(config: SimulatorConfig, person: Person) -> list[Seed]:
    return [
        Seed("sms", config.twilio.number, person.phone),
        Seed("slack", config.slack.team_id, person.slack_user),
        Seed("telegram", str(config.telegram.bot_id), str(person.telegram_user)),
    ]


async def _connect_mail(store: CredentialStore, tenant: str, person: Person, port: int) -> None:
    """Connect the simulator's mail server as the person's email account; it gives way to any other account."""
    try:
        others = set((await store.accounts(tenant, EMAIL)).names) - {SIMULATED}
        if others:
            await store.delete(tenant, EMAIL, SIMULATED)
            return
        sender = f"{person.name} <{person.key}@example.com>"
        account: JsonObject = {"host": "127.0.0.1", "port": port, "tls": "none", "from": sender}
        await store.save(tenant, EMAIL, account, SIMULATED)
    except CredentialError as error:
        _log.warning("simulated_mail_not_connected", tenant=tenant, cause=str(error))


async def let_in_as(database: Database, config: SimulatorConfig, person: Person, role: PersonRole) -> str:
    """Admit a simulated person at all their addresses, as the operator does; return the tenant's id."""
    return await seed_person(database, _addresses(config, person), person, role)


async def seed_person(database: Database, seeds: list[Seed], person: Person, role: PersonRole) -> str:
    """Create a person with all these identities and return the tenant's id. It may be repeated."""
    row = await database.one(
        "select seed_person($1,$2,$3,$4,$5,$6) as tenant_id",
        make_id("tn"),
        [asdict(seed) for seed in seeds],
        [make_id("idn") for _ in seeds],
        person.name,
        person.timezone,
        role.value,
    )
    return str(row["tenant_id"])
