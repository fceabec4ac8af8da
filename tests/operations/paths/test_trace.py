"""What `trace` and a turn's page tell of the same rows, and of a message that belongs to no turn."""

import pytest

from core.errors import ConfigError
from operations.paths.rows import find_turn
from operations.paths.trace import trace
from operations.paths.turn_path import read_path
from tests.core.harness import Store


async def test_a_message_is_told_before_its_turn_begins_and_with_it_afterwards(store: Store) -> None:
    await store.say("What is on today?")
    message = str(await store.db.inbound.one("id"))
    assert [line["what"] for line in await trace(store.database, message)] == ["received"]
    assert await find_turn(store.database, message) is None
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "The dentist.")
    await store.send(await store.claim_sending("The dentist."))
    told = [line["what"] for line in await trace(store.database, message)]
    assert told == ["received", "turn begun", "turn ended", "queued", "accepted"]
    found = await find_turn(store.database, message)
    assert found is not None
    async with store.database.tenant(found[0]) as connection:
        path = await read_path(connection, *found)
    assert [span.title for span in path.spans] == ["Received", "Queued: reply", "Handed to the provider"]
    assert [(said.inward, said.text) for said in path.said] == [(True, "What is on today?"), (False, "The dentist.")]


async def test_what_we_say_outside_a_turn_is_told_alone(store: Store) -> None:
    await store.say("hello")
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "hi")
    await store.db.outbound.change({"turn_id": None})
    reply = str(await store.db.outbound.one("id"))
    assert [line["what"] for line in await trace(store.database, reply)] == ["queued"]
    with pytest.raises(ConfigError, match="Nothing is known of nowhere"):
        await trace(store.database, "nowhere")
