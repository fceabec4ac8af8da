"""The previous release decides approvals beside a database that the newest code migrated: `web` is updated after it."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.core.db.locking_calls import ANN, make_moment
from tests.core.harness import ACCOUNT, CHANNEL, Store
from tests.upgrade.previous import unpack

pytestmark = pytest.mark.whole("it starts a process of the previous release")
TOKEN = "t" * 22
DECIDE = """
import asyncio, sys
from datetime import UTC, datetime
from core.approvals.exact_replies import Verb, button
from core.approvals.store import ApprovalStore
from core.db.database import Database
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.messages import Address, InboundMessage, Press
from core.queue.wakeups import NoWakeups

async def main(how, url, tenant, token, channel, account, ann):
    database, wakeups, place = Database(url), NoWakeups(), Address(channel, account, ann, "")
    inbox = Inbox(database, wakeups, make_id)
    if how == "typed":
        await inbox.accept(InboundMessage(place, ann, ("SM-decides",), "OK 7K"))
    elif how == "pressed":
        await inbox.accept(Press(place, ann, ("SM-decides",), button(Verb.APPROVE, token)))
    else:
        await ApprovalStore(database, wakeups).decide(
            tenant, "apr", Verb.APPROVE, how="operator", channel="operator", now=datetime.now(UTC), said_in="op_1")
    await database.close()

asyncio.run(main(*sys.argv[1:]))
"""
VOID = "update approvals set state = 'cancelled', reason = 'amended', decided_at = now() where id = 'apr'"


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the previous release, which its first process compiles for the others."""
    return unpack(tmp_path_factory.mktemp("previous"))


async def decide_as_before(folder: Path, how: str, store: Store, tenant: str) -> None:
    """Approve by the code of the previous release."""
    values = [how, store.url, tenant, TOKEN, CHANNEL, ACCOUNT, ANN]
    run = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DECIDE, *values, cwd=folder, stderr=asyncio.subprocess.PIPE
    )
    _, told = await run.communicate()
    assert run.returncode == 0, told.decode()


@pytest.mark.parametrize(("void", "state"), [("select", "approved"), (VOID, "cancelled")], ids=["open", "void"])
@pytest.mark.parametrize("how", ["typed", "pressed", "said"])
async def test_promise_9_the_previous_release_decides_beside_new_functions(
    store: Store, previous: Path, how: str, void: str, state: str
) -> None:
    tenant = str((await make_moment(store))["tenant"])
    await store.admin.execute("update approvals set token = $1 where id = 'apr'", TOKEN)
    await store.admin.execute("update outbound set state = 'sent' where id = 'out_card'")
    await store.admin.execute("update outbound_parts set state = 'sent' where outbound_id = 'out_card'")
    await store.admin.execute(void)
    await decide_as_before(previous, how, store, tenant)
    assert await store.one("select state from approvals where id = 'apr'") == state
