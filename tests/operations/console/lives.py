"""A person's life: rows in each table that a page of the console shows, and the rows that belong to a person."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from abilities.places.places import Places
from abilities.places.types import SavedPlace
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.service import TaskService
from core.ids import make_id
from core.json_types import JsonObject
from core.notifications.types import Notification
from core.people.profile import FactSource, ProfileStore
from core.people.tenant_tables import tenant_tables
from operations.programs.tokens import ClientTokens
from tests.abilities.receipts.test_pages import act
from tests.onevalet.test_consents_elsewhere import agree
from tests.operations.console.asking import ask, question
from tests.operations.console.harness import ANN, BOB, TOKEN_KEY, Console
from tests.operations.console.test_deliveries import fail, hold_news, lose
from tests.operations.console.test_linking import give_code
from tests.operations.console.test_prompts import ask_model

HERS, HIS, NAMED = "amaranth", "basil", " Smith"
_SPENT = (
    "insert into usage_days (tenant_id, day, kind, name, calls, cost)"
    " values ($1, (now() at time zone 'UTC')::date, 'model', $2, 1, 1)"
)
_LIKED = (
    "insert into feedback (tenant_id, outbound_id, emoji, given, liked, at)"
    " select tenant_id, id, '👍', true, true, now() from outbound where tenant_id = $1 and text like '%' || $2 || '%'"
)
_FOLLOWED = (
    "insert into followups"
    " (tenant_id, memory_id, number, state, happens_at, ask_at, digest_at, day, changed_at, made_at)"
    " select tenant_id, id, 1, 'proposed', now(), now(), now(), current_date, now(), now()"
    " from memories where tenant_id = $1 and text like '%' || $2 || '%'"
)


@dataclass(frozen=True, slots=True)
class Belongings:
    """The contents of a person's rows: the last id of each column that names a row, and each text that is theirs."""

    ids: Sequence[str]
    texts: frozenset[str] = field(repr=False)
    """Texts with the person's word or a digit, as ids and addresses have it; the others are states and kinds."""
    rows: frozenset[str] = field(repr=False)


async def two_lives(console: Console) -> tuple[str, str]:
    """Give Ann and Bob rows in each table that a page shows, with a word of their own in all texts."""
    ann, bob = await _live(console, ANN, HERS), await _live(console, BOB, HIS)
    # These wait for a worker, as no turn may before them.
    await _plan(console, ANN, HERS)
    await _plan(console, BOB, HIS)
    return ann, bob


async def _live(console: Console, sender: str, word: str) -> str:
    store, now = console.store, console.clock.now()
    tenant = await console.tenant(sender)
    await store.db.tenants.change({"name": f"{word}{NAMED}"}, tenant_id=tenant)
    await act(store, sender, f"Rang for {word}.")
    await fail(console, f"{word} cab", sender)
    await lose(console, f"{word} train", sender)
    await hold_news(console, tenant, Notification(f"{word} news", dedupe_key=word))
    await give_code(console, sender)
    await console.credentials.save(tenant, "acme", {"token": "s3cret"}, f"{word} account")
    await ClientTokens(store.database, make_id, [TOKEN_KEY]).make(tenant, f"{word} program", now, timedelta(days=1))
    await ProfileStore(store.database, store.make_id).keep(
        tenant, "home_city", f"{word}ville", FactSource.TOLD, "", now
    )
    assert console.memory is not None
    assert await console.memory(tenant).remember(f"I am allergic to {word}.", f"key {word}")
    await store.admin.execute(_FOLLOWED, tenant, word)
    await Places(store.database, console.clock, tenant).save(SavedPlace(f"{word} office", 52.5, 13.4))
    await store.admin.execute(_SPENT, tenant, f"{word}-model")
    await store.admin.execute(_LIKED, tenant, word)
    await agree(store, tenant, name=f"{word}_update")
    await ask_model(store, sender)
    await question(console, sender, f"Which {word}?")
    await ask(console, sender, summary=f"send {word}", code=word[:2].upper())
    return tenant


async def _plan(console: Console, sender: str, word: str) -> None:
    tenant = await console.tenant(sender)
    tasks = TaskService(console.store.database, make_id, console.clock, console.store.wakeups)
    action: JsonObject = {"instruction": f"Say: {word}"}
    made = await tasks.create_task(
        tenant_id=tenant, trigger=ScheduleTrigger(cron="30 9 * * 1"), action=action, title=f"{word} water"
    )
    await tasks.run_now(tenant, made.id, f"run_{word}")
    await console.store.say(f"{word} tea?", sender=sender)


async def belongings(console: Console, tenant: str, word: str) -> Belongings:
    """Return all rows of a person, from whatever tables there are."""
    keys = await console.store.admin.fetch(
        "select c.conrelid::regclass::text as of, array_agg(a.attname::text) as names from pg_constraint c"
        " join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)"
        " where c.contype = 'p' and a.atttypid = 'text'::regtype and a.attname <> 'tenant_id' group by 1"
    )
    named = {row["of"]: row["names"] for row in keys}
    ids, texts, rows = dict[tuple[str, str], str](), set[str](), set[str]()
    for table in tenant_tables():
        statement = f"select to_jsonb(r) as row, r::text as whole from {table} r where tenant_id = $1"  # noqa: S608
        for found in await console.store.admin.fetch(statement, tenant):
            row = json.loads(found["row"])
            rows.add(f"{table} {found['whole']}")
            texts |= {text for text in _texts(row) if word in text or (len(text) > 5 and re.search(r"\d", text))}
            ids |= {(table, name): row[name] for name in named.get(table, ())}
    return Belongings(sorted(set(ids.values()) - {""}), frozenset(texts - {word}), frozenset(rows))


def _texts(value: object) -> Sequence[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for inner in value.values() for text in _texts(inner)]
        case list():
            return [text for inner in value for text in _texts(inner)]
    return []
