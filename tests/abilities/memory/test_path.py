"""What was recalled for a turn stands in its path: a line for each leg in `trace`, one row on the page."""

from operations.paths.trace import trace
from operations.paths.turn_path import Span, read_path
from tests.core.harness import Store

REPORT = {
    "legs": [
        {"leg": "vectors", "hits": ["mem_1", "mem_2"], "missed": "", "took_ms": 12.5},
        {"leg": "words", "hits": ["mem_2"], "missed": "", "took_ms": 2.0},
    ],
    "took_ms": 14,
}


async def notes(store: Store, tenant: str, turn: str) -> list[Span]:
    """Return the rows of a turn's page that abilities tell."""
    async with store.database.tenant(tenant) as connection:
        return [span for span in (await read_path(connection, tenant, turn)).spans if span.kind == "note"]


async def test_what_was_recalled_stands_in_the_path_of_its_turn(store: Store) -> None:
    await store.say("where is the key?")
    lease, turn = await store.claim_turn()
    assert await notes(store, lease.tenant_id, turn.turn_id) == []
    await store.finish(lease, turn, "In the boat.", noted={"memory": REPORT})
    [note] = await notes(store, lease.tenant_id, turn.turn_id)
    assert (note.title, note.note) == ("Recalled", "2 memories")
    assert note.facts == (("vectors", "2 found, 12.5 ms"), ("words", "1 found, 2.0 ms"))
    assert (note.until - note.at).total_seconds() == 0.0125
    lines = [line for line in await trace(store.database, turn.turn_id) if line["what"] == "RECALL"]
    assert [(line["leg"], line["hits"]) for line in lines] == [("vectors", "mem_1,mem_2"), ("words", "mem_2")]
