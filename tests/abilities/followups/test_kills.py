"""Workers die by `kill -9` after each statement of a follow-up: it is proposed, decided and answered once.

To die before a statement is no point of its own: between two of them, these workers touch nothing but memory.
"""

import itertools
import signal
from pathlib import Path

import pytest

from tests.abilities.followups.victims import work
from tests.core.harness import Store
from tests.forker import Forker, plain_environment

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(600)]
ADA = "+15550000001"
_AHEAD = (
    "insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from, happens_at)"
    " select tenant_id, 'mem', 1, 'My exam is soon', 'person', 'told', 'k', now(), now(), now() + interval '9 days'"
    " from tenants"
)
_PREPARED = {"propose": (), "yes": (), "no": (), "off": ("yes",), "undo": ("yes",)}
"""What Ada said before each deed."""
_ANSWERS = {"yes": "I will ask you", "no": "I will not ask", "off": "I no longer propose follow-ups", "undo": "Undone"}
_ENDS = {"propose": "proposed", "yes": "kept", "no": "declined", "off": "over", "undo": "over"}


async def say(store: Store, deed: str) -> None:
    """Store what Ada says; nobody works yet."""
    command, argument = ("undo", "") if deed == "undo" else ("followups", deed)
    await store.say(argument, sender=ADA, command=command)


async def work_on(store: Store) -> None:
    await store.expire()
    await store.end_pauses()
    await work(store.database, "survivor")


async def answers(store: Store) -> list[str]:
    """Return all that Ada was sent."""
    return [str(one) for one in await store.column("select text from outbound order by created_at, seq, id")]


async def prepared(store: Store, deed: str) -> None:
    """Let something be ahead of Ada, and bring her to where she may do the deed."""
    for table in ("undo_records", "notifications", "followups", "followup_choices", "task_runs", "tasks", "memories"):
        await store.admin.execute(f"delete from {table}")  # noqa: S608 - our own names
    await store.admin.execute(_AHEAD)
    if deed == "propose":
        return
    await work_on(store)
    for said in _PREPARED[deed]:
        await say(store, said)
        await work_on(store)


async def die(store: Store, forker: Forker, point: str, log: Path) -> bool:
    """Let a worker die at a point; return False for one that got past all statements."""
    child = forker.fork([store.url, point], plain_environment(), log, module="tests.abilities.followups.victims")
    code = await child.wait()
    assert code in (0, -signal.SIGKILL), log
    return code != 0


@pytest.mark.parametrize("deed", list(_PREPARED))
async def test_promise_5_follow_ups_survive_a_kill_at_each_point(
    store: Store, forker: Forker, tmp_path: Path, deed: str
) -> None:
    await store.say("", sender=ADA, command="followups")
    await work_on(store)
    for number in itertools.count(1):
        await prepared(store, deed)
        before = len(await answers(store))
        if deed != "propose":
            await say(store, deed)
        dead = await die(store, forker, f"{number}+", tmp_path / "victims.log")
        await work_on(store)
        said = (await answers(store))[before:]
        assert [_ANSWERS[deed] in one for one in said] == [True] * (deed != "propose"), (number, said)
        assert await store.db.followups.one("state") == _ENDS[deed], number
        assert await store.db.notifications.count() == 1
        tasks = await store.column("select deleted_at is null from tasks")
        assert tasks == ([True] if deed == "yes" else [False] if deed in ("off", "undo") else []), number
        if not dead:
            assert number > 3
            return
    raise AssertionError
