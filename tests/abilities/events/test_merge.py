"""Two people who become one keep both their sources of events."""

import json

from abilities.events.bus import EventBus
from abilities.events.merge import EventSourceMerge
from abilities.events.source_types import Style
from abilities.events.sources import EventSources
from abilities.events.types import Event
from tests.abilities.events.test_bus import FAST
from tests.core.harness import Store
from tests.core.people.harness import CHAT, PHONE, Harness
from tests.eventually import eventually

ANN, ANN_CHAT = "+15550000001", "7001"


async def two_people(store: Store) -> tuple[Harness, EventSources, str, str]:
    """Let two people write, and return how they link, their sources, and both."""
    harness = Harness(store)
    harness.hooks = (EventSourceMerge(harness.credentials),)
    await harness.ask("hello", ANN)
    await harness.ask("hello", ANN_CHAT, CHAT)
    sources = EventSources(store.database, harness.credentials, store.make_id)
    return harness, sources, await harness.tenant(ANN, PHONE), await harness.tenant(ANN_CHAT, CHAT)


async def link(harness: Harness) -> None:
    """Make the two one person."""
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    assert (await harness.link(code, ANN)).startswith("Linked")


async def test_after_a_merge_both_peoples_sources_prove_themselves_as_before(store: Store) -> None:
    harness, sources, ann, chat = await two_people(store)
    mine, _ = await sources.add(ann, "github", Style.GITHUB, secret="mine")
    theirs, _ = await sources.add(chat, "github", Style.GITHUB, secret="theirs")
    door, _ = await sources.add(chat, "door", Style.BEARER, secret="door")
    await link(harness)
    moved = [await sources.find(source.id) for source in (mine, theirs, door)]
    assert [(source.tenant_id, source.name, source.secret) for source in moved if source] == [
        (ann, "github", b"mine"), (ann, "github-2", b"theirs"), (ann, "door", b""),
    ]  # fmt: skip
    again = await sources.find("door", "door")
    assert again is not None
    assert again.tenant_id == ann


async def test_a_source_renamed_by_a_merge_is_found_by_the_name_it_had(store: Store) -> None:
    harness, sources, ann, chat = await two_people(store)
    for tenant_id, name, secret in (
        (ann, "door", "mine"), (chat, "door", "theirs"), (chat, "door-2", "other"), (ann, "door-3", "third"),
    ):  # fmt: skip
        await sources.add(tenant_id, name, Style.BEARER, secret=secret)
    await link(harness)
    found = {secret: await sources.find("door", secret) for secret in ("mine", "theirs", "other", "")}
    assert {secret: source and (source.tenant_id, source.name) for secret, source in found.items()} == {
        "mine": (ann, "door"), "theirs": (ann, "door-4"), "other": None, "": None,
    }  # fmt: skip
    assert [source.name for source in await sources.list(ann)] == ["door", "door-2", "door-3", "door-4"]


async def test_tasks_and_events_of_a_renamed_source_follow_its_name(store: Store) -> None:
    harness, sources, ann, chat = await two_people(store)
    bus = EventBus("redis://127.0.0.1:1/0", store.database, store.make_id)
    await bus.store.add_group("tasks", "*")
    for tenant_id in (ann, chat):
        await sources.add(tenant_id, "door", Style.BEARER, secret=tenant_id)
        assert await bus.publish(Event("door", "opened", {}, f"of {tenant_id}", tenant_id))
        for number, source in enumerate(("door", "do*", "window"), 1):
            await store.admin.execute(
                "insert into tasks (tenant_id, id, number, title, kind, trigger, action, state, anchor, created_at)"
                " values ($1, $1 || $2, $3, '', 'event', $4, '{}', 'ACTIVE', now(), now())",
                tenant_id, source, number, json.dumps({"source": source, "type": "*"}),
            )  # fmt: skip
    await link(harness)
    waits = await store.column("select trigger ->> 'source' from tasks where tenant_id = $1 order by id", ann)
    assert sorted(map(str, waits)) == ["do*", "do*", "door", "door-2", "window", "window"]
    assert await store.one("select trigger ->> 'source' from tasks where id = $1", f"{chat}door") == "door-2"
    events = [
        (row["source"], row["event_id"]) for row in await store.admin.fetch("select * from event_work order by 2")
    ]
    assert events == [("door", f"of {ann}"), ("door-2", f"of {chat}")]
    again = Event("door-2", "opened", {}, f"of {chat}", ann)
    assert not await bus.publish(again), "an event that is sent again is known"
    await bus.close()


async def test_a_subscriber_hears_of_a_source_by_each_name_it_had(store: Store, redis_url: str) -> None:
    harness, sources, ann, chat = await two_people(store)
    heard: list[tuple[str, str]] = []

    async def handle(event: Event) -> None:
        heard.append((event.source, event.id))

    bus = EventBus(redis_url, store.database, store.make_id, poll=FAST)
    for tenant_id in (ann, chat):
        await sources.add(tenant_id, "door", Style.BEARER, secret=tenant_id)
    await link(harness)
    await bus.publish(Event("door-2", "opened", {}, "before", ann))
    await bus.subscribe("door:*", handle)
    for source in ("door", "door-2", "window"):
        await bus.publish(Event(source, "opened", {}, f"at {source}", ann))
    await eventually(lambda: len(heard) >= 3)
    await bus.close()
    assert sorted(heard) == [("door", "at door"), ("door-2", "at door-2"), ("door-2", "before")]
