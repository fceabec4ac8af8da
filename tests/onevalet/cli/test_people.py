"""`people …`, `memory list`, `--version`, and a person who is not here, as an operator runs them."""

import json
import tomllib
from datetime import UTC, datetime

import pytest

from tests.core.harness import Store
from tests.onevalet.cli.harness import Operator, add_people
from tests.shipping.harness import read

pytestmark = pytest.mark.xdist_group("processes")

OTHER = "tn_bob"
CANARY = "canary-88d1"


async def a_person_with_a_history(store: Store) -> str:
    """Bring in Ann, who wrote twice and was answered once; return her id."""
    await store.enqueue("Hello.")
    await store.say("are you there?")
    tenant = await store.db.person()
    await store.db.tenants.change({"name": "Ann", "language": "de", "timezone": "Europe/Berlin", "role": "owner"})
    return tenant


async def test_people_list_names_everybody_with_their_addresses(operator: Operator, store: Store) -> None:
    assert await operator.run("people", "list") == (0, "Nobody is here yet.\n", "")
    ann = await a_person_with_a_history(store)
    await add_people(store.url, OTHER)
    code, out, errors = await operator.run("people", "list")
    assert (code, errors) == (0, "")
    [hers, his] = sorted(out.splitlines(), key=lambda line: "Ann" not in line)
    assert hers.split() == [ann, "owner", "Ann", "sms", "+15550000001"]
    assert his.split()[:2] == [OTHER, "member"]
    listed = json.loads((await operator.run("people", "list", "--json"))[1])
    assert {person["id"]: person["name"] for person in listed} == {ann: "Ann", OTHER: None}


async def test_people_show_tells_a_person_apart_and_what_waits(operator: Operator, store: Store) -> None:
    ann = await a_person_with_a_history(store)
    await operator.run("credentials", "set", "google", stdin=json.dumps({"token": CANARY}))
    code, out, errors = await operator.run("people", "show")
    assert (code, errors) == (0, "")
    for told in (ann, "Ann", "owner", "de", "Europe/Berlin", "sms +15550000001"):
        assert told in out
    assert "1 message to answer" in out
    assert "1 answer to send" in out
    assert "google primary" in out
    assert CANARY not in out
    shown = json.loads((await operator.run("people", "show", ann, "--json"))[1])
    assert (shown["language"], shown["timezone"]) == ("de", "Europe/Berlin")
    assert shown["identities"] == [
        {"channel": "sms", "account": "+15550009999", "address": "+15550000001", "state": "active", "admitted": "open"}
    ]
    assert shown["waiting"] == {"messages": 1, "answers": 1, "notifications": 0, "agents": 0, "tasks": 0}
    assert shown["approvals"] == []
    assert CANARY not in json.dumps(shown)


async def test_memory_list_shows_one_person_only_what_holds(operator: Operator, store: Store) -> None:
    await add_people(store.url, "tn_ann", OTHER)
    await remember(store, "tn_ann", 1, "I live in Lisbon.", ended=True)
    await remember(store, "tn_ann", 2, "I live in Porto.")
    await remember(store, OTHER, 1, "I have a dog.")
    code, out, errors = await operator.run("memory", "list", "--tenant", "tn_ann")
    assert (code, errors) == (0, "")
    assert out == "   2  2026-03-01  told      I live in Porto.\n"
    code, out, _ = await operator.run("memory", "list", "--tenant", "tn_ann", "--ended", "--json")
    assert [(memory["number"], memory["text"]) for memory in json.loads(out)] == [
        (2, "I live in Porto."),
        (1, "I live in Lisbon."),
    ]
    await add_people(store.url, "tn_carl")
    assert (await operator.run("memory", "list", "--tenant", "tn_carl"))[1] == "tn_carl: nothing is remembered.\n"


async def remember(store: Store, tenant: str, number: int, text: str, *, ended: bool = False) -> None:
    """Store a memory as the extraction does."""
    at = datetime(2026, 3, 1, 8, tzinfo=UTC)
    await store.admin.execute(
        "insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from, valid_to)"
        " values ($1, $2, $3, $4, 'person', 'told', $2, $5, $5, $6)",
        tenant,
        f"mem_{number}",
        number,
        text,
        at,
        at if ended else None,
    )


async def test_version_is_that_of_the_project(operator: Operator) -> None:
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert await operator.run("--version") == (0, f"OneValet {version}\n", "")


@pytest.mark.parametrize(
    "words",
    [
        ("tasks", "list"),
        ("tasks", "retry"),
        ("tasks", "pause", "1"),
        ("approvals", "list"),
        ("approvals", "decide", "7K", "approve"),
        ("credentials", "list"),
        ("credentials", "delete", "google"),
        ("events", "list"),
        ("events", "source", "list"),
        ("notify", "list"),
        ("notify", "add", "push", "topic"),
        ("notify", "send", "hello"),
        ("memory", "list"),
    ],
    ids=" ".join,
)
async def test_a_person_who_is_not_here_is_an_error(
    operator: Operator, database_url: str, redis_url: str, words: tuple[str, ...]
) -> None:
    await add_people(database_url, "tn_ann")
    code, out, errors = await operator.run(*words, "--tenant", "nope", REDIS_URL=redis_url)
    assert (code, out) == (2, "")
    assert errors == "There is no person nope: `people list` names everybody.\n"
