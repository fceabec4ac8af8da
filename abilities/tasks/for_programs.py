"""A person's tasks as their programs see them."""

from collections.abc import Sequence

from abilities.tasks.descriptions import in_words
from abilities.tasks.store import TaskStore
from core.clock import zone_or_utc
from core.db.database import Database
from core.json_types import JsonObject
from core.language.catalogue import speaking
from operations.programs.tokens import Client
from operations.programs.types import MOST, Arguments, ClientTool, Nothing, Told, iso, listed


def client_tools(database: Database) -> Sequence[ClientTool]:
    """Return the tool that lists a person's tasks."""
    store = TaskStore(database)

    async def list_tasks(client: Client, given: Arguments) -> Told:
        timezone, language = await store.person(client.tenant_id)
        zone, rows = zone_or_utc(timezone), list[JsonObject]()
        with speaking(language):
            for task in (await store.tasks(client.tenant_id))[:MOST]:
                when, state = in_words(task.trigger, zone), task.state.value.lower()
                rows.append(
                    {
                        "number": task.number,
                        "title": task.title,
                        "when": when,
                        "state": state,
                        "next": iso(task.next_at),
                        "line": f"{task.number}. {task.title}: {when} ({state})",
                    }
                )
        return listed("tasks", rows, "line")

    return [ClientTool("list_tasks", "List the person's reminders and other tasks.", Nothing, list_tasks)]
