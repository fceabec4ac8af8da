"""The page of a running turn says what is done at the moment, in words, and is told when that changes."""

from operations.console.access import Viewer
from operations.console.live import PageVersions
from tests.operations.console.harness import ANN, Console


async def test_a_running_turns_page_follows_what_is_done(console: Console) -> None:
    store = console.store
    await store.say("Is it raining?", sender=ANN)
    lease, turn = await store.claim_turn()
    said = {"": "Checking the weather…"}
    versions = PageVersions(store.database, lambda _: _told(said))
    ann = Viewer(await console.tenant(ANN), True)
    first = await versions.of(f"/console/turns/{turn.turn_id}", ann)
    assert await versions.of(f"/console/turns/{turn.turn_id}", ann) == first
    said[""] = "Two of three days"
    assert await versions.of(f"/console/turns/{turn.turn_id}", ann) != first
    await store.finish(lease, turn, "It is.")
    ended = await versions.of(f"/console/turns/{turn.turn_id}", ann)
    said[""] = "Late words"
    assert await versions.of(f"/console/turns/{turn.turn_id}", ann) == ended


async def _told(said: dict[str, str]) -> str:
    return said[""]
