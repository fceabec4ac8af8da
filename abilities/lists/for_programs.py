"""The answers to a person's programs about their notes."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from abilities.lists.notes import NOTES
from core.db.database import Database
from core.json_types import JsonObject
from core.tools.storage import Storage
from operations.programs.tokens import Client
from operations.programs.types import MOST, Arguments, ClientTool, Told, listed


class _ListNotes(Arguments):
    query: Annotated[str, Field(max_length=500, description="Words that a note has; without any, all notes.")] = ""


def client_tools(database: Database) -> Sequence[ClientTool]:
    """Return the tool that lists a person's notes."""
    storage = Storage(database)

    async def list_notes(client: Client, given: Arguments) -> Told:
        assert isinstance(given, _ListNotes)  # noqa: S101 - as the tool says
        words = re.findall(r"\w+", given.query.casefold())
        rows: list[JsonObject] = []
        for note in await storage.for_tenant(client.tenant_id).list(NOTES):
            text = str(note.value.get("text", "")) if isinstance(note.value, dict) else ""
            if text and all(word in text.casefold() for word in words):
                rows.append({"number": note.number, "text": text, "line": f"{note.number}. {text}"})
        return listed("notes", rows[-MOST:], "line")

    return [ClientTool("list_notes", "List the person's notes, or those with certain words.", _ListNotes, list_notes)]
