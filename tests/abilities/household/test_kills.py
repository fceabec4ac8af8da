"""Workers die by `kill -9` after each statement of joining and leaving, which happens, is answered and is told once.

To die before a statement is no point of its own: between two of them, these workers touch nothing but memory.
"""

import itertools
import signal
from pathlib import Path

import pytest

from tests.abilities.household.living import CODE, TIER
from tests.abilities.household.victims import work
from tests.core.harness import Store
from tests.forker import Forker, plain_environment

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(600)]
ADA, GRACE = "+15550000001", "+15550000002"
_TOLD = "select o.text from outbound o join conversations c on c.id = o.conversation_id where c.peer = $1"
_IN_ORDER = " order by o.created_at, o.seq, o.id"


async def write(store: Store, argument: str, sender: str) -> None:
    """Store what somebody wants of the household; nobody works yet."""
    await store.say(argument, sender=sender, command="household")


async def work_on(store: Store) -> None:
    await store.expire()
    await store.end_pauses()
    await work(store.database, "survivor")


async def read(store: Store, sender: str) -> list[str]:
    """Return all that somebody was sent."""
    return [str(text) for text in await store.column(_TOLD + _IN_ORDER, sender)]


async def die(store: Store, forker: Forker, point: str, log: Path) -> bool:
    """Let a worker die at a point; return False for one that got past all statements."""
    child = forker.fork([store.url, point], plain_environment(), log, module="tests.abilities.household.victims")
    code = await child.wait()
    assert code in (0, -signal.SIGKILL), log
    return code != 0


async def until_done(store: Store, forker: Forker, deed: str, told: str, log: Path) -> int:
    """Let Grace do a deed with a worker that dies at each point in turn; return how many points there were."""
    for number in itertools.count(1):
        argument = await prepared(store, deed)
        before, of_ada = len(await read(store, GRACE)), len(await read(store, ADA))
        await write(store, argument, GRACE)
        dead = await die(store, forker, f"{number}+", log)
        await work_on(store)
        answers, news = (await read(store, GRACE))[before:], (await read(store, ADA))[of_ada:]
        assert len(answers) == 1, (number, answers)
        assert told in answers[0], (number, answers)
        assert len(news) == 1, (number, news)
        if not dead:
            return number - 1
    raise AssertionError


async def prepared(store: Store, deed: str) -> str:
    """Bring Grace to where she may do the deed, or Ada free her of a child's limits; return what is written for it."""
    # Neither the invitations of a day nor its news end here.
    await store.admin.execute("delete from household_invitations; delete from notifications")
    inside = await store.one("select count(*) from household_members")
    if deed == "leave":
        if inside == 1:
            argument = await prepared(store, "join")
            await write(store, argument, GRACE)
            await work_on(store)
        return "leave"
    if inside == 2:
        await write(store, "leave", GRACE)
        await work_on(store)
    await write(store, "invite child" if deed == "free" else "invite", ADA)
    await work_on(store)
    *_, code = [found[0] for text in await read(store, ADA) if (found := CODE.search(text))]
    await write(store, f"join {code}", GRACE)
    await work_on(store)
    if deed != "free":
        return f"join {code} agree"
    await write(store, f"join {code} agree", GRACE)
    await work_on(store)
    assert await tier(store) == TIER.name
    await write(store, "", ADA)  # a number means the member who has it in the list that was shown
    await work_on(store)
    return "make 2 adult"


async def tier(store: Store) -> str:
    """Return Grace's tier."""
    whose = "select t.tier from tenants t join identities i using (tenant_id) where i.user_key = $1"
    return str(await store.one(whose, GRACE))


@pytest.mark.parametrize(("deed", "told"), [("join", "You are now in"), ("leave", "You have left")])
async def test_promise_5_joining_and_leaving_survive_a_kill_at_each_point(
    store: Store, forker: Forker, tmp_path: Path, deed: str, told: str
) -> None:
    for sender in (ADA, GRACE):
        await store.say("create Rose Cottage" if sender == ADA else "", sender=sender, command="household")
        await work_on(store)
    assert await until_done(store, forker, deed, told, tmp_path / "victims.log") >= 8


async def test_promise_5_an_adults_word_lifts_limits_after_a_kill_at_each_point(
    store: Store, forker: Forker, tmp_path: Path
) -> None:
    await write(store, "create Rose Cottage", ADA)
    await work_on(store)
    await write(store, "", GRACE)
    await work_on(store)
    numbers, dead = itertools.count(1), True
    while dead:
        number = next(numbers)
        argument = await prepared(store, "free")
        before, of_grace = len(await read(store, ADA)), len(await read(store, GRACE))
        await write(store, argument, ADA)
        dead = await die(store, forker, f"{number}+", tmp_path / "victims.log")
        await work_on(store)
        assert await tier(store) == "", number
        assert len(await read(store, ADA)) == before + 1, number
        assert len(await read(store, GRACE)) == of_grace + 1, number
    assert number > 10
