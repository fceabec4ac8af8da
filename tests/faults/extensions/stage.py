"""What stands around the processes that are struck: settings, skills, apps, programs and the sensor."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from abilities.skills.types import COLLECTION, Skill
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.db.database import Database
from core.ids import make_id
from core.json_types import JsonObject
from core.tools.accepted import Accepted, AcceptedDefinitions
from core.tools.storage import Storage
from operations.programs.tokens import ClientTokens
from tests.faults.database import read_text
from tests.faults.extensions.apps import App, running_apps, token_of
from tests.faults.extensions.asking import OWN_SKILL, SKILL, plain
from tests.faults.extensions.plans import ExtensionPlan
from tests.faults.extensions.points import Kind
from tests.faults.extensions.programs import Program
from tests.faults.harness import SECRET_KEY, Harness
from tests.plugins.extensions import SENSOR

SOCKETS = (Kind.SOCKET, Kind.PRESSED)
PROGRAMS = (Kind.PROGRAM, Kind.PIPES, Kind.CONSENT)
SENSORS = (Kind.SENSOR, Kind.STOPPED)
_TENANT = "select tenant_id from identities where user_key = any($1::text[]) limit 1"
_STEPS = "1. Do it once.\n2. Say so."


@dataclass(frozen=True, slots=True)
class Stage:
    """All of it. `apps` by their people's keys, `programs` by the names of plans."""

    harness: Harness
    database: Database
    apps: dict[str, App]
    programs: dict[str, Program]

    @property
    def settings(self) -> dict[str, str]:
        """Return what our processes are told."""
        return {
            "FAULTS_EXTENSIONS": "on",
            "ONEVALET_PLUGINS": "tests.plugins.faults,tests.plugins.extensions",
            "ONEVALET_CHANNELS": "agents.websocket",
            "WEBSOCKET_TOKENS": ",".join(f"{person}:{token_of(person)}" for person in self.apps),
        }

    async def tenant(self, plan: ExtensionPlan) -> str:
        """Return who a plan's person is."""
        person = plan.person
        keys = [person.key] if plan.kind in SOCKETS else [person.phone, str(person.telegram_user)]
        return await read_text(self.harness, _TENANT, keys)

    async def let_in(self, plan: ExtensionPlan) -> None:
        """Give a person's program its token."""
        keys = SecretKeys([read_secret_key(SECRET_KEY)])
        tokens = ClientTokens.of(self.database, make_id, keys)
        made = await tokens.make(await self.tenant(plan), "laptop", Clock().now(), None)
        assert made is not None
        self.programs[plan.name] = Program(self.harness.webs[0].url, made.secret, plan.body)

    async def keep_skill(self, plan: ExtensionPlan) -> None:
        """Keep a skill of a person's own."""
        version: JsonObject = {"number": 1, "description": "When it is done as they like it.", "text": _STEPS}
        storage = Storage(self.database).for_tenant(await self.tenant(plan))
        await storage.put(COLLECTION, OWN_SKILL, {"versions": [version]})

    async def measure(self, plans: Sequence[ExtensionPlan]) -> None:
        """Let the sensor measure something for each of these plans, and nothing else."""
        measured = {plain(plan.token): await self.tenant(plan) for plan in plans}
        (self.harness.folder / SENSOR).write_text(json.dumps(measured))


@asynccontextmanager
async def open_stage(harness: Harness, plans: Sequence[ExtensionPlan]) -> AsyncIterator[Stage]:
    """Set it up for the block; the operator has accepted a skill."""
    people = [plan.person.key for plan in plans if plan.kind in SOCKETS]
    database = Database(harness.url)
    try:
        async with running_apps(harness.webs[0].url, people) as apps:
            skill = Skill(SKILL, "When it is to be done as always.", _STEPS, {})
            await AcceptedDefinitions(database, "skill").accept(Accepted(SKILL, "", skill.hash, skill.to_json()))
            yield Stage(harness, database, apps, {})
    finally:
        await database.close()
