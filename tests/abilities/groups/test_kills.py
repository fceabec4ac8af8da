"""Workers die by `kill -9` after each statement of allowing a group, of asking in it, of the card in the own chat.

To die before a statement is no point of its own: between two of them, these workers touch nothing but memory.
"""

import itertools
import signal
from pathlib import Path

import pytest

from core.messaging.messages import Address, IgnoredMessage, IgnoreReason, InboundMessage, InGroup
from tests.abilities.groups.victims import work
from tests.core.harness import Store
from tests.forker import Forker, plain_environment

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(900)]
ANN, BOT = "700100001", "7000000001"


async def said(store: Store, text: str, group: str = "") -> None:
    """Store what Ann writes, in a group or in her own chat."""
    key = store.make_id("update")
    address = Address("telegram", BOT, group or ANN)
    message = InboundMessage(address, ANN, (key,), text, sender_name="Ann", provider_id=key)
    if group:
        event = InGroup("Us", message, addressed=True)
        await store.inbox.accept(IgnoredMessage(address, ANN, (key,), IgnoreReason.GROUP, group=event))
    else:
        await store.inbox.accept(message)


async def die(store: Store, forker: Forker, point: str, log: Path) -> bool:
    """Let a worker die at a point; return False for one that got past all statements."""
    child = forker.fork([store.url, point], plain_environment(), log, module="tests.abilities.groups.victims")
    code = await child.wait()
    assert code in (0, -signal.SIGKILL), log
    await store.expire()
    await store.admin.execute("update group_chats set next_attempt_at = now()")
    return code != 0


async def sent(store: Store, peer: str) -> list[str]:
    """Return all that was queued for a chat, in order."""
    query = (
        "select o.text from outbound o join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
        " where c.peer = $1 order by o.created_at, o.seq, o.id"
    )
    return [str(text) for text in await store.column(query, peer)]


async def test_promise_5_a_group_is_allowed_once_after_a_kill_at_each_point(
    store: Store, forker: Forker, tmp_path: Path
) -> None:
    await said(store, "hello")
    await work(store.database, "first")
    await store.admin.execute("update tenants set role = 'owner'")
    for died in itertools.count():
        group = f"-{100 + died}"
        await said(store, "groups on", group)
        dead = await die(store, forker, f"{died + 1}+", tmp_path / "victims.log")
        await work(store.database, "survivor")
        assert len(await sent(store, group)) == 1, died
        assert await store.one("select state from group_chats where peer = $1", group) == "on", died
        if not dead:
            break
    assert died >= 4


async def test_promise_5_a_member_is_asked_once_after_a_kill_at_each_point(
    store: Store, forker: Forker, tmp_path: Path
) -> None:
    await said(store, "hello")
    await work(store.database, "first")
    await store.admin.execute("update tenants set role = 'owner'")
    await said(store, "groups on", "-100")
    await work(store.database, "first")
    for died in itertools.count():
        in_group, own = len(await sent(store, "-100")), len(await sent(store, ANN))
        cards = int(str(await store.one("select count(*) from approvals")))
        await said(store, f"mail Sam ({died})", "-100")
        dead = await die(store, forker, f"{died + 1}+", tmp_path / "victims.log")
        await work(store.database, "survivor")
        assert (await sent(store, "-100"))[in_group:] == ["I have asked Ann."], died
        told = (await sent(store, ANN))[own:]
        assert told[0] == f"You asked me in the group “Us”: mail Sam ({died})", (died, told)
        assert await store.one("select count(*) from approvals") == cards + 1, died
        await store.admin.execute("update approvals set state = 'cancelled'")
        await store.admin.execute("update turns set state = 'done' where state = 'waiting'")
        await store.admin.execute("update pool_entries set status = 'CANCELLED'")
        if not dead:
            break
    assert died >= 10
