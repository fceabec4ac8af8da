"""Who may decide: people who become one, addresses that were unlinked, and the operator."""

import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from core.approvals.store import ApprovalMerge
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.errors import ConfigError
from core.json_types import JsonObject
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from onevalet.cli.approvals import decide, print_approvals
from onevalet.settings import Settings
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": ""}


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield an system whose people may link their addresses."""
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        store = system.delivery.store
        credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", b"k" * 32)]))
        linking = Linking(store.database, credentials, store.make_id, hooks=(ApprovalMerge(system.clock),))
        system.people = PersonCommands(linking, People(store.database, store.make_id, system.clock))
        yield system


async def test_open_approvals_are_asked_again_after_a_merge_and_not_after_unlink(
    system: Approving,
) -> None:
    system.model.script = [wants(("send_mail", MAIL)), says("Hello.")]
    await system.say("mail sam")
    await system.say("hello", "grace")
    old = await system.code()
    await system.say("LINK")
    match = re.search(r"LINK (\w{3}-\w{3}-\w{3})", system.last())
    assert match is not None
    system.clock.move(timedelta(seconds=1))
    await system.say(f"LINK {match[1]}", "grace")
    await system.say(f"LINK {match[1]} AGREE", "grace")
    assert await system.delivery.store.db.tenants.count() == 1
    assert await system.states() == ["replaced", "pending"]
    new = await system.code()
    assert "linked" in next(bubble.text for bubble in system.delivery.channel.bubbles() if f"OK {new}" in bubble.text)
    await system.say(f"OK {old}", "grace")
    assert system.sent == []

    # Later than a link can be taken back.
    await system.delivery.store.admin.execute("update links set made_at = made_at - interval '1 day'")
    system.model.script = [says("What?")]
    await system.say("UNLINK")
    await system.say(f"OK {new}")
    assert (await system.states(), system.sent) == (["replaced", "pending"], [])
    system.model.script = [says("Sent.")]
    await system.say(f"OK {new}", "grace")
    assert system.sent == [MAIL]
    rows = await system.delivery.store.admin.fetch("select what from approval_audit order by id")
    assert [row["what"] for row in rows] == [
        "requested", "sent", "reissued", "requested", "sent", "approved", "ran",
    ]  # fmt: skip


async def test_the_operator_lists_and_decides_as_such_for_one_or_over_all(
    system: Approving, database_url: str, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    settings = Settings(_env_file=None, database_url=database_url, onevalet_home=tmp_path)
    system.clock.at = datetime.now(UTC)
    await print_approvals(settings, "", as_json=False)
    assert "Nothing waits" in capsys.readouterr().out
    system.model.script = [wants(("send_mail", MAIL)), wants(("send_mail", {**MAIL, "to": "bob@example.com"}))]
    await system.say("mail sam")
    await system.say("mail bob", "grace")
    ada, grace = map(
        str, await system.delivery.store.column("select tenant_id from approvals order by arguments->>'to' desc")
    )
    capsys.readouterr()
    await print_approvals(settings, "", as_json=True)
    listed = {item["tenant"]: item for item in json.loads(capsys.readouterr().out)}
    assert set(listed) == {ada, grace}
    assert listed[ada]["arguments"]["to"] == "sam@example.com"
    await print_approvals(settings, ada, as_json=False)
    assert grace not in capsys.readouterr().out

    await system.delivery.store.db.approvals.change({"code": "7K"})
    with pytest.raises(ConfigError, match="--tenant"):
        await decide(settings, "7k", "approve", "", as_json=False)
    with pytest.raises(ConfigError, match="approve or cancel"):
        await decide(settings, "7k", "maybe", ada, as_json=False)
    await decide(settings, "7k", "approve", ada, as_json=False)
    await decide(settings, "7k", "CANCEL", "", as_json=True)
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["state"] == "cancelled"
    with pytest.raises(ConfigError, match="No 7K waits"):
        await decide(settings, "7k", "approve", "", as_json=False)
    system.model.script = [says("Sent."), says("Not sent.")]
    await system.work()
    assert [mail["to"] for mail in system.sent] == ["sam@example.com"]
    await system.say("OK 7K")
    assert "already approved by the operator at" in system.last()
    audit = await system.delivery.store.column(
        "select channel from approval_audit where what in ('approved', 'cancelled')"
    )
    assert audit == ["operator", "operator"]
    # Of another day than today, the day is told too.
    await system.delivery.store.admin.execute("update approvals set decided_at = now() - interval '3 days'")
    await system.say("OK 7K")
    assert re.search(r"approved by the operator at \d\d:\d\d on \d{1,2} [A-Z][a-z]+\.", system.last())


async def test_a_high_risk_confirmation_number_is_erased_once_used_up(system: Approving) -> None:
    system.risk = "high"
    system.model.script = [wants(("send_mail", MAIL)), says("Sent.")]
    await system.say("mail sam")
    code = await system.code()
    await system.say(f"OK {code}")
    match = re.search(rf"OK {code} (\d{{6}})", system.last())
    assert match is not None
    await system.say(f"OK {code} {match[1]}")
    await system.work()
    assert system.sent == [MAIL]
    store = system.delivery.store
    for table, column in (
        ("outbound", "text"),
        ("outbound_parts", "text"),
        ("inbound", "text"),
        ("history", "message"),
    ):
        kept = await store.column(f"select {column}::text from {table}")  # noqa: S608
        assert not any(match[1] in str(value) for value in kept), table
    assert any("******" in str(text) for text in await store.db.outbound.column("text"))


async def test_approvals_of_an_ended_turn_end_with_it_and_cannot_be_granted(system: Approving) -> None:
    system.model.script = [wants(("send_mail", MAIL))]
    await system.say("mail sam")
    await system.delivery.store.db.turns.change({"state": "failed"}, state="waiting")
    await system.delivery.channel.said(f"OK {await system.code()}")
    assert await system.states() == ["pending"]
    await system.work()
    assert "nothing was done" in system.last()
    assert (await system.states(), system.sent) == (["expired"], [])
