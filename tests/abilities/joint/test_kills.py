"""Workers die by `kill -9` at each statement between the question and the run: both are asked, and it runs once."""

import signal
from functools import partial
from pathlib import Path

import pytest

from core.approvals.exact_replies import Verb
from core.approvals.store import ApprovalStore
from core.clock import Clock
from tests.abilities.household.test_kills import ADA, GRACE, prepared, read, work_on, write
from tests.abilities.joint.victims import work
from tests.core.harness import RecordedWakeups, Store
from tests.forker import Forker, plain_environment
from tests.kills.points import each_point

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(900)]


async def decide(store: Store, sender: str, verb: Verb) -> None:
    """Let somebody decide their newest request, in the console."""
    row = await store.admin.fetchrow(
        "select a.tenant_id, a.id from approvals a join identities i on i.tenant_id = a.tenant_id"
        " where i.user_key = $1 order by a.created_at desc, a.id limit 1",
        sender,
    )
    assert row is not None
    approvals = ApprovalStore(store.database, RecordedWakeups())
    await approvals.decide(
        row["tenant_id"], row["id"], verb, how="console", channel="console", now=Clock().now(), said_in=f"by {sender}"
    )


async def live_through(store: Store, forker: Forker, folder: Path, died_in: str, point: str) -> tuple[bool, object]:
    """Ask and decide once, with a worker that dies at a point of one stage; return whether it died, and had booked."""
    book, dead, booked = folder / f"book {died_in} {point}", False, False
    await store.admin.execute("delete from joint_consents; delete from notifications")
    of_ada = len(await read(store, ADA))
    for stage in ("asked", "first", "second"):
        if stage == "asked":
            await store.say("book it if Grace agrees")
        else:
            by = ADA if (stage == "first") == (died_in != "first") else GRACE
            await decide(store, by, Verb.CANCEL if died_in == "no" and by == GRACE else Verb.APPROVE)
        if stage == died_in or (died_in == "no" and stage == "second"):
            environment, module = plain_environment(), "tests.abilities.joint.victims"
            child = forker.fork([store.url, point, str(book)], environment, folder / "victims.log", module=module)
            code = await child.wait()
            assert code in (0, -signal.SIGKILL), (folder / "victims.log").read_text()
            dead, booked = code != 0, book.exists()
        await store.expire()
        await store.end_pauses()
        await work(store.database, "survivor", book)
        assert book.exists() == (stage == "second" and died_in != "no"), (died_in, point, stage)
    keys = {line.split()[0] for line in book.read_text().splitlines()} if died_in != "no" else set()
    assert len(keys) == (died_in != "no"), (died_in, point, keys)
    answers = [text for text in (await read(store, ADA))[of_ada:] if text.startswith("So: ")]
    assert len(answers) == 1, (died_in, point, answers)
    assert ("did not agree" in answers[0]) == (died_in == "no"), answers
    states = await store.column("select state from joint_consents")
    assert states == ["ended"], (died_in, point, states)
    return dead, booked


@pytest.mark.parametrize("stage", ["asked", "first", "second", "no"])
async def test_promise_5_both_consents_survive_a_kill_at_each_point(
    store: Store, forker: Forker, tmp_path: Path, stage: str
) -> None:
    for sender in (ADA, GRACE):
        await store.say("create Rose Cottage" if sender == ADA else "", sender=sender, command="household")
        await work_on(store)
    await write(store, await prepared(store, "join"), GRACE)
    await work_on(store)
    named = "update tenants t set name = 'Grace' from identities i where i.tenant_id = t.tenant_id and i.user_key = $1"
    await store.admin.execute(named, GRACE)
    assert await each_point(partial(live_through, store, forker, tmp_path, stage)) >= 4
