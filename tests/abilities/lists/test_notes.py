"""Notes, kept in the database: each person's own, each under a number that stays its own."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import asyncpg
import pytest

from abilities.lists.notes import add_note, forget_note, list_notes, restore_note, take_back_note
from core.db.database import Database
from core.errors import ToolFailed
from core.journal.in_memory import MemoryJournal
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.context import KEEPS_NOTHING, ToolExecutionContext
from core.tools.storage import MAX_VALUE, Storage
from core.tools.tool import AnyTool
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Place, TurnRequest, TurnWork
from onevalet import ToolRetry
from tests.core.builders import FakeModel, a_context, says, wants


@pytest.fixture
async def storage(database_url: str) -> AsyncIterator[Storage]:
    """Yield the storage of two people, ann and bob."""
    admin = await asyncpg.connect(database_url)
    await admin.execute("insert into tenants (tenant_id) values ('ann'), ('bob')")
    await admin.close()
    database = Database(database_url)
    yield Storage(database)
    await database.close()


def context_of(storage: Storage, tenant: str, key: str = "key") -> ToolExecutionContext:
    """Make the context of one call for one person."""
    return replace(a_context(tenant_id=tenant, idempotency_key=key), storage=storage.for_tenant(tenant))


async def test_a_note_is_kept_listed_and_forgotten(storage: Storage) -> None:
    ann = context_of(storage, "ann", "a")
    assert await list_notes(ann) == "There are no notes."
    assert await add_note(" buy milk ", ann) == "Noted as number 1: buy milk"
    assert await add_note("call Zoë 🎂", context_of(storage, "ann", "b")) == "Noted as number 2: call Zoë 🎂"
    assert await list_notes(ann) == "The notes:\n1. buy milk\n2. call Zoë 🎂"
    assert await forget_note(1, ann) == "Note 1 is forgotten: buy milk"
    assert await forget_note(1, context_of(storage, "ann", "c")) == "There is no note 1 now."
    assert await list_notes(ann) == "The notes:\n2. call Zoë 🎂"


async def test_promise_5_the_same_call_again_adds_no_second_note(storage: Storage) -> None:
    answers = [await add_note("buy milk", context_of(storage, "ann", "turn.0.1")) for _ in range(2)]
    assert answers == ["Noted as number 1: buy milk"] * 2
    assert await list_notes(context_of(storage, "ann")) == "The notes:\n1. buy milk"
    assert "number 2" in await add_note("buy milk", context_of(storage, "ann", "turn.0.2"))


async def test_a_number_never_comes_to_mean_another_note(storage: Storage) -> None:
    await add_note("first", context_of(storage, "ann", "a"))
    await forget_note(1, context_of(storage, "ann"))
    assert await add_note("second", context_of(storage, "ann", "b")) == "Noted as number 2: second"


async def test_what_was_noted_or_forgotten_is_undone(storage: Storage) -> None:
    ann = context_of(storage, "ann", "a")
    await add_note("buy milk", ann)
    await forget_note(1, ann)
    added, forgotten = ann.undo.offered
    assert (added.title, forgotten.title) == ("Note: buy milk", "Forgotten note: buy milk")
    for _ in range(2):  # a repeat after a crash changes nothing
        again = context_of(storage, "ann", "b")
        back = await restore_note(context=again, **forgotten.arguments)  # type: ignore[arg-type]
        assert back == "Undone: the note is back, as number 2: buy milk"
    assert await list_notes(ann) == "The notes:\n2. buy milk"
    undone = [await take_back_note("b", ann) for _ in range(2)]
    assert undone == ["Undone: the note is gone: buy milk", "The note is gone."]
    assert await list_notes(ann) == "There are no notes."


async def test_promise_11_two_people_do_not_see_each_others_notes(storage: Storage) -> None:
    ann, bob = context_of(storage, "ann", "same"), context_of(storage, "bob", "same")
    await add_note("hers", ann)
    assert await list_notes(bob) == "There are no notes."
    assert await forget_note(1, bob) == "There is no note 1 now."
    assert await add_note("his", bob) == "Noted as number 1: his"
    assert await list_notes(ann) == "The notes:\n1. hers"


async def test_promise_11_without_a_tenant_the_database_shows_no_stored_value(storage: Storage) -> None:
    await add_note("hers", context_of(storage, "ann"))
    for table in ("stored_values", "stored_collections"):
        assert await storage.database.rows(f"select * from {table}") == []  # noqa: S608
    async with storage.database.tenant("bob") as connection:
        assert await connection.fetch("select * from stored_values") == []
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("insert into stored_collections (tenant_id, name) values ('ann', 'x')")


@pytest.mark.parametrize("text", ["", "  ", "x" * 2001])
async def test_a_note_without_or_with_too_much_text_is_refused(storage: Storage, text: str) -> None:
    with pytest.raises(ToolRetry):
        await add_note(text, context_of(storage, "ann"))


async def test_stored_values_are_json_by_key_in_the_order_they_first_came(storage: Storage) -> None:
    kept = storage.for_tenant("ann")
    first = await kept.put("c", "k1", {"n": [1, None, "é\x00"]})
    await kept.put("c", "k2", "text")
    assert (first.number, first.value) == (1, {"n": [1, None, "é"]})
    assert (await kept.put("c", "k1", None)).number == 1
    assert [(value.key, value.number, value.value) for value in await kept.list("c")] == [
        ("k1", 1, None),
        ("k2", 2, "text"),
    ]
    assert await kept.get("c", "k2") == (await kept.list("c"))[1]
    assert await kept.get("c", "k3") is None
    assert await kept.list("another") == []
    await kept.delete("c", "k3")


async def test_what_cannot_be_kept_is_refused_in_a_sentence(storage: Storage) -> None:
    kept = storage.for_tenant("ann")
    for collection, key, value in (("", "k", 1), ("c", "\x00", 1), ("c", "k" * 201, 1), ("c", "k", "x" * MAX_VALUE)):
        with pytest.raises(ToolFailed):
            await kept.put(collection, key, value)
    with pytest.raises(ToolFailed, match="nowhere to keep"):
        await add_note("milk", replace(a_context(), storage=KEEPS_NOTHING))


async def test_each_turn_uses_its_persons_storage_and_writes_before_it_lists(
    storage: Storage,
) -> None:
    tools: list[AnyTool] = [add_note, list_notes, forget_note]
    model = FakeModel([wants(("add_note", {"text": "milk"}), ("list_notes", {})), says("ok")] * 2)
    orchestrator = Orchestrator(model, tools=tools, storage=storage)
    for tenant in ("ann", "bob"):
        await orchestrator.handle_message(_request(tenant))
        assert model.told() == ["Noted as number 1: milk", "The notes:\n1. milk"]


def _request(tenant: str) -> TurnRequest:
    message = TurnMessage("m", "note milk", datetime.now(UTC))
    return TurnRequest(
        TurnWork(f"turn_{tenant}", MemoryJournal()),
        TurnTenant(tenant, "", "", "UTC"),
        Place("terminal"),
        FromPerson((message,)),
    )
