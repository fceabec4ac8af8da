"""A person with a calendar on a real Radicale, over each channel."""

from collections.abc import Mapping
from typing import Any

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.calendar.tools import (
    AddEventsFromFile,
    AnswerInvitation,
    CancelEvent,
    ChangeEvent,
    CreateEvent,
    find_events,
    find_free_time,
    list_calendars,
    list_events,
    remind_before_event,
    undo_event,
)
from core.agents.registry import AgentRegistry
from core.http.guarded_client import GuardedClient
from core.json_types import JsonObject
from core.tools.storage import Storage
from tests.contract.approving import Approving
from tests.core.credentials.harness import new_key, store_with
from tests.servers.radicale import USERS, Radicale

AGENTS = (CreateEvent, ChangeEvent, CancelEvent, AnswerInvitation, AddEventsFromFile)
TOOLS = (list_events, find_events, list_calendars, find_free_time, remind_before_event, undo_event)
BERLIN = "update tenants set timezone = 'Europe/Berlin'"


async def give_calendar(
    system: Approving, radicale: Radicale, http: GuardedClient, tenant: str, **users: str
) -> Mapping[str, Any]:
    """Connect a person's accounts, a user of the server for each name, and offer what keeps calendars."""
    database = system.delivery.store.database
    credentials = store_with(database, new_key())
    for name, user in users.items():
        kept: JsonObject = {
            "user": user,
            "password": USERS[user],
            "caldav": radicale.url,
            "from": f"{user}@example.org",
        }
        await credentials.save(tenant, "caldav", kept, name)
    await credentials.prefer(tenant, "caldav", next(iter(users)))
    await system.delivery.store.admin.execute(BERLIN)
    system.more += TOOLS
    system.options |= {
        "agents": AgentRegistry(AGENTS),
        "credentials": credentials,
        "accounts": Accounts(credentials, Services()),
        "http": http,
        "storage": Storage(database),
    }
    return system.options
