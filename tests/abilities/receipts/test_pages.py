"""The page of receipts: a person's own, month by month, and the file that anybody can check."""

import io
from collections.abc import AsyncIterator

import pytest

from abilities.receipts.keys import fingerprint, signing_keys
from abilities.receipts.receipts_file import FileRefused, verify
from abilities.receipts.store import PAGE
from core.json_types import JsonObject
from tests.core.credentials.harness import KEYS
from tests.core.harness import Store, opened
from tests.operations.console.harness import ANN, BOB, Console, open_console

PLACE = "/console/receipts"


@pytest.fixture
async def console(database_url: str) -> AsyncIterator[Console]:
    """Yield the console with two people."""
    async with opened(database_url) as store, open_console(store) as console:
        yield console


async def act(store: Store, sender: str, *texts: str, outcome: str = "ok") -> str:
    """Let calls that act once run in a turn of somebody's; return the turn."""
    await store.say("please", sender=sender)
    lease, turn = await store.claim_turn()
    for number, text in enumerate(texts, 1):
        step: JsonObject = {
            "agent_path": "", "step": 0, "call_index": number, "kind": "tool", "name": "ring_bell", "args_hash": "h",
            "effect": "once", "state": "done", "outcome": outcome, "idempotency_key": "", "result": {"text": text},
            "usage": {}, "duration_ms": 1,
        }  # fmt: skip
        await store.database.call(
            "select record_step($1,$2,$3,$4,$5)", lease.tenant_id, lease.lane_id, lease.fence, turn.turn_id, step
        )
    await store.finish(lease, turn, "Done.")
    await store.send(await store.claim_sending("Done."))
    return turn.turn_id


async def test_people_see_their_own_receipts_and_operators_nobody_elses(console: Console) -> None:
    await act(console.store, BOB, "Rang Bob's bell.")
    await act(console.store, ANN, "<b>Rang</b> Ann's bell.")
    for sender, seen, unseen in ((BOB, "Rang Bob's bell.", "Ann's"), (ANN, "<b>Rang</b> Ann's bell.", "Bob's bell")):
        async with console.browser(sender) as browser:
            assert await browser.get(PLACE) == 200
            assert seen in browser.text
            assert unseen not in browser.text
            assert "Done 1 By a card 0 Without a card 1" in browser.text
            assert "this needs no approval" in browser.text


async def test_an_unknown_outcome_is_marked(console: Console) -> None:
    await act(console.store, BOB, "", outcome="unknown")
    async with console.browser(BOB) as browser:
        await browser.get(PLACE)
        assert "outcome unknown" in browser.text
        assert "It is not known whether it took effect." in browser.text


async def test_a_page_of_receipts_leads_to_the_earlier_ones(console: Console) -> None:
    for number in range(PAGE // 5 + 1):
        await act(console.store, BOB, *(f"Rang bell {number} {place}." for place in range(5)))
    shown: list[str] = []
    async with console.browser(BOB) as browser:
        await browser.get(PLACE)
        [further] = browser.links("before=")
        shown += [part for part in browser.page.split("<pre>") if part.startswith("Rang bell")]
        await browser.get(further)
        shown += [part for part in browser.page.split("<pre>") if part.startswith("Rang bell")]
        assert browser.links("before=") == []
    assert len({part.partition("<")[0] for part in shown}) == len(shown) == PAGE + 5


@pytest.mark.parametrize("query", ["month=2026-13", "month=nothing", "month=2026", "month=12", "before=x", "before=_",
                                   "before=2026-10-01", "before=2026-10-01T00:00:00%2B00:00_zz"])  # fmt: skip
async def test_an_odd_address_shows_this_month(console: Console, query: str) -> None:
    async with console.browser(BOB) as browser:
        assert await browser.get(f"{PLACE}?{query}") == 200
        assert "Nothing was done in your name" in browser.text


async def test_an_open_page_follows_what_is_done(console: Console) -> None:
    async with console.browser(BOB) as browser:
        await browser.get(PLACE)
        before = browser.version
        await act(console.store, BOB, "Rang.")
        assert await browser.told(PLACE) != before


async def test_the_saved_file_is_good_and_signed_by_this_installation(console: Console) -> None:
    await act(console.store, BOB, *(f"Rang {number}." for number in range(3)))
    await act(console.store, ANN, "Rang Ann's.")
    async with console.browser(BOB) as browser:
        await browser.get(PLACE)
        assert fingerprint(signing_keys(KEYS)[0].public) in browser.text
        month = browser.inputs("month")[0]
        assert await browser.post(f"{PLACE}/file", {"month": month, "proof": browser.proof}) == 200
        file = browser.page.encode()
        assert f"receipts-{month}.jsonl" in browser.headers
    verified = verify(io.BytesIO(file))
    assert (verified.receipts, verified.person) == (3, await console.tenant(BOB))
    assert verified.key == fingerprint(signing_keys(KEYS)[0].public)
    assert b"Ann's" not in file
    with pytest.raises(FileRefused):
        verify(io.BytesIO(file.replace(b"Rang 1.", b"Rang 7.")))
    assert await console.store.column("select what from console_actions") == ["save receipts"]


async def test_the_file_needs_a_session_and_the_pages_own_proof(console: Console) -> None:
    async with console.browser() as browser:
        assert await browser.post(f"{PLACE}/file", {"month": "2026-10"}) == 401
    async with console.browser(BOB) as browser:
        assert await browser.post(f"{PLACE}/file", {"month": "2026-10", "proof": "0" * 64}) == 403
        assert await browser.get(f"{PLACE}/file") in (404, 405)
