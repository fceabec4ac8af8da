"""Two people who become one keep both their sources of events."""

from core.events.merge import EventSourceMerge
from core.events.source_types import Style
from core.events.sources import EventSources
from tests.core.harness import Store
from tests.core.people.harness import CHAT, PHONE, Harness

ANN, ANN_CHAT = "+15550000001", "7001"


async def test_after_a_merge_both_peoples_sources_prove_themselves_as_before(store: Store) -> None:
    harness = Harness(store)
    harness.hooks = (EventSourceMerge(harness.credentials),)
    sources = EventSources(store.database, harness.credentials, store.make_id)
    await harness.ask("hello", ANN)
    await harness.ask("hello", ANN_CHAT, CHAT)
    ann, chat = await harness.tenant(ANN, PHONE), await harness.tenant(ANN_CHAT, CHAT)
    mine, _ = await sources.add(ann, "github", Style.GITHUB, secret="mine")
    theirs, _ = await sources.add(chat, "github", Style.GITHUB, secret="theirs")
    door, _ = await sources.add(chat, "door", Style.BEARER, secret="door")
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    assert (await harness.link(code, ANN)).startswith("Linked")
    moved = [await sources.find(source.id) for source in (mine, theirs, door)]
    assert [(source.tenant_id, source.name, source.secret) for source in moved if source] == [
        (ann, "github", b"mine"), (ann, "github-2", b"theirs"), (ann, "door", b""),
    ]  # fmt: skip
    again = await sources.find("door", "door")
    assert again is not None
    assert again.tenant_id == ann
