"""`agents …`: the agents that wait for people, paused, resumed or dropped by the operator."""

from core.agents.pool import Pool
from core.agents.pool_entry import PoolEntry
from core.db.database import Database
from core.errors import ConfigError
from core.json_types import JsonObject
from core.queue.wakeups import NoWakeups
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import known_tenant, one_tenant, open_database
from onevalet.settings import Settings

_EVERYBODY = 1_000_000
_DONE = {"pause": "Paused", "resume": "Resumed", "cancel": "Dropped"}


async def print_agents(settings: Settings, tenant: str, *, as_json: bool) -> None:
    """List the agents that wait for a person, or for all people, the longest wait first."""
    async with open_database(settings, "agents") as database:
        if tenant:
            tenants = [await known_tenant(database, tenant)]
        else:
            found = await database.rows("select * from find_tenants($1)", _EVERYBODY)
            tenants = [str(row["tenant_id"]) for row in found]
        waiting = [(owner, entry) for owner in tenants for entry in await Pool(database, NoWakeups()).list(owner)]
    if as_json:
        say_json([_as_json(owner, entry) for owner, entry in waiting])
        return
    for owner, entry in waiting:
        until = f"until {entry.expires_at:%Y-%m-%d %H:%M} UTC"
        say(f"{entry.agent_id}  {owner}  {entry.agent_type}  {entry.status.value}  {until}")
        for asked in entry.open_asks:
            say(f"  {asked.text} {' | '.join(asked.labels)}".rstrip())
    if not waiting:
        say("No agent waits for anybody.")


async def change_agent(settings: Settings, change: str, agent: str, tenant: str) -> None:
    """Pause, resume or cancel a waiting agent, named by the beginning of its id.

    Raise `ConfigError` if the agent's state does not allow it.
    """
    async with open_database(settings, "agents") as database:
        tenant = await one_tenant(database, tenant)
        entry = await _find(database, tenant, agent)
        pool = Pool(database, NoWakeups())
        changes = {"pause": pool.pause, "resume": pool.resume, "cancel": pool.cancel}
        if not await changes[change](tenant, entry.agent_id):
            raise ConfigError(f"{entry.agent_id} is {entry.status.value}, so it cannot be changed that way.")
    say(f"{_DONE[change]} {entry.agent_type} of {tenant}.")


async def _find(database: Database, tenant: str, agent: str) -> PoolEntry:
    entries = await Pool(database, NoWakeups()).list(tenant)
    found = [entry for entry in entries if entry.agent_id.startswith(agent)]
    if len(found) != 1:
        problem = "Several waiting agents have" if found else "No waiting agent has"
        raise ConfigError(f"{problem} an id that begins with {agent} for {tenant}.")
    return found[0]


def _as_json(tenant: str, entry: PoolEntry) -> JsonObject:
    return {
        "agent_id": entry.agent_id,
        "tenant": tenant,
        "agent_type": entry.agent_type,
        "status": entry.status.value,
        "question": entry.question,
        "choices": [{"question": asked.text, "choices": list(asked.labels)} for asked in entry.open_asks],
        "expires_at": entry.expires_at.isoformat(),
    }
