"""A worker is killed in the middle of its calls: the next one makes them again, with the same ids, and none is lost."""

import base64
import re
import signal
from collections import Counter
from pathlib import Path

import pytest

from abilities.webhooks.endpoints import Endpoints, EventKind
from abilities.webhooks.signing import as_text, secrets_of
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.ids import make_id
from tests.abilities.webhooks.harness import receiving
from tests.eventually import eventually
from tests.forker import Forker
from tests.kills.harness import open_system
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from workbench.simulator.config import Person

PEOPLE = 4


def acts_once(call: ModelCall) -> Reply:
    """Let each turn act once."""
    turn = re.findall(r"v\d\d", " ".join(call.new_user_texts) or call.last_user)[-1]
    return text(f"{turn} is done") if call.tool_results else calls(("mark", {"turn": turn, "number": 0}))


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_each_event_is_told_at_least_once_by_one_id_under_kills(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    people = [
        Person(f"v{n:02}", f"Person {n}", f"+1555042{n:04}", f"U0V{n:07}", 640_000_000 + n) for n in range(PEOPLE)
    ]
    database = Database(database_url)
    async with (
        receiving() as receiver,
        open_system(tmp_path, database_url, redis_url, people, ScriptedModel(acts_once), forker) as system,
    ):
        kinds = [EventKind.TURN_DONE, EventKind.EFFECT_DONE]
        endpoint = await Endpoints(database, make_id).add(receiver.url, kinds)
        await database.close()
        receiver.answers.extend(["hang"] * 2)
        named = {"ONEVALET_FETCH_HOSTS": f"127.0.0.1:{receiver.port}"}
        victim = system.fork_worker("victim", **named)
        for person in people:
            await system.say(person, person.key)
        await eventually(lambda: len(receiver.calls) >= 2, "calls under way")
        victim.send_signal(signal.SIGKILL)
        await victim.wait()
        for table in ("webhook_messages", "lanes"):
            await system.admin.execute(
                f"update {table} set lease_until = clock_timestamp() where owner is not null"  # noqa: S608
            )
        survivor = system.fork_worker("survivor", **named)

        async def all_told() -> bool:
            states = await system.admin.fetch("select state, count(*) as n from webhook_messages group by state")
            return {row["state"]: row["n"] for row in states} == {"sent": 2 * PEOPLE}

        await eventually(all_told, "all events told")
        await system.end(survivor)
        rows = await system.admin.fetch("select id, kind from webhook_messages")
    keys = SecretKeys.from_text(base64.b64encode(bytes(32)).decode())
    secret = as_text(secrets_of(keys, endpoint.id, 1, None, Clock().machine_now())[0])
    told = {call.id: call.verified(secret)["type"] for call in receiver.calls}
    assert told == {row["id"]: row["kind"] for row in rows}
    assert Counter(row["kind"] for row in rows) == {"turn.done": PEOPLE, "effect.done": PEOPLE}
    assert len({(call.id, call.body) for call in receiver.calls}) == 2 * PEOPLE, "a repeat has the same body"
