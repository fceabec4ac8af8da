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
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHouse
from tests.core.agents.harness import SetClock
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": ""}


@pytest.fixture
async def office(database_url: str) -> AsyncIterator[Approving]:
    """Give an office whose people may link their addresses."""
    async with open_approving(SmsHouse, database_url, SetClock()) as office:
        store = office.desk.store
        credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", b"k" * 32)]))
        linking = Linking(store.database, credentials, store.make_id, hooks=(ApprovalMerge(office.clock),))
        office.people = PersonCommands(linking, People(store.database, store.make_id, office.clock))
        yield office


async def test_two_become_one_what_was_open_is_asked_again_and_an_unlinked_address_decides_no_more(
    office: Approving,
) -> None:
    office.model.script = [wants(("send_mail", MAIL)), says("Hello.")]
    await office.say("mail sam")
    await office.say("hello", "grace")
    old = await office.code()
    await office.say("LINK")
    found = re.search(r"LINK (\w{3}-\w{3}-\w{3})", office.last())
    assert found is not None
    office.clock.move(timedelta(seconds=1))
    await office.say(f"LINK {found[1]}", "grace")
    await office.say(f"LINK {found[1]} AGREE", "grace")
    assert await office.desk.store.one("select count(*) from tenants") == 1
    assert await office.states() == ["replaced", "pending"]
    new = await office.code()
    assert "linked" in next(one.text for one in office.desk.house.bubbles() if f"OK {new}" in one.text)
    await office.say(f"OK {old}", "grace")
    assert office.sent == []

    # Later than a link can be taken back.
    await office.desk.store.eye.execute("update links set made_at = made_at - interval '1 day'")
    office.model.script = [says("What?")]
    await office.say("UNLINK")
    await office.say(f"OK {new}")
    assert (await office.states(), office.sent) == (["replaced", "pending"], [])
    office.model.script = [says("Sent.")]
    await office.say(f"OK {new}", "grace")
    assert office.sent == [MAIL]
    rows = await office.desk.store.eye.fetch("select what from approval_audit order by id")
    assert [row["what"] for row in rows] == [
        "requested", "sent", "reissued", "requested", "sent", "approved", "ran",
    ]  # fmt: skip


async def test_the_operator_lists_and_decides_as_such_for_one_or_over_all(
    office: Approving, database_url: str, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    settings = Settings(_env_file=None, database_url=database_url, onevalet_home=tmp_path)
    office.clock.at = datetime.now(UTC)
    await print_approvals(settings, "", as_json=False)
    assert "Nothing waits" in capsys.readouterr().out
    office.model.script = [wants(("send_mail", MAIL)), wants(("send_mail", {**MAIL, "to": "bob@example.com"}))]
    await office.say("mail sam")
    await office.say("mail bob", "grace")
    ada, grace = map(
        str, await office.desk.store.column("select tenant_id from approvals order by arguments->>'to' desc")
    )
    capsys.readouterr()
    await print_approvals(settings, "", as_json=True)
    listed = {one["tenant"]: one for one in json.loads(capsys.readouterr().out)}
    assert set(listed) == {ada, grace}
    assert listed[ada]["arguments"]["to"] == "sam@example.com"
    await print_approvals(settings, ada, as_json=False)
    assert grace not in capsys.readouterr().out

    await office.desk.store.eye.execute("update approvals set code = '7K'")
    with pytest.raises(ConfigError, match="--tenant"):
        await decide(settings, "7k", "approve", "", as_json=False)
    with pytest.raises(ConfigError, match="approve or cancel"):
        await decide(settings, "7k", "maybe", ada, as_json=False)
    await decide(settings, "7k", "approve", ada, as_json=False)
    await decide(settings, "7k", "CANCEL", "", as_json=True)
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["state"] == "cancelled"
    with pytest.raises(ConfigError, match="No 7K waits"):
        await decide(settings, "7k", "approve", "", as_json=False)
    office.model.script = [says("Sent."), says("Not sent.")]
    await office.work()
    assert [one["to"] for one in office.sent] == ["sam@example.com"]
    await office.say("OK 7K")
    assert "already approved by the operator at" in office.last()
    audit = await office.desk.store.column("select channel from approval_audit where what in ('approved', 'cancelled')")
    assert audit == ["operator", "operator"]
    # Of another day than today, the day is told too.
    await office.desk.store.eye.execute("update approvals set decided_at = now() - interval '3 days'")
    await office.say("OK 7K")
    assert re.search(r"approved by the operator at \d\d:\d\d on \d{1,2} [A-Z][a-z]+\.", office.last())


async def test_the_number_of_high_risk_is_in_nothing_that_is_kept_once_it_is_of_no_use(office: Approving) -> None:
    office.risk = "high"
    office.model.script = [wants(("send_mail", MAIL)), says("Sent.")]
    await office.say("mail sam")
    code = await office.code()
    await office.say(f"OK {code}")
    found = re.search(rf"OK {code} (\d{{6}})", office.last())
    assert found is not None
    await office.say(f"OK {code} {found[1]}")
    await office.work()
    assert office.sent == [MAIL]
    store = office.desk.store
    for table, column in (
        ("outbound", "text"),
        ("outbound_parts", "text"),
        ("inbound", "text"),
        ("history", "message"),
    ):
        kept = await store.column(f"select {column}::text from {table}")  # noqa: S608
        assert not any(found[1] in str(one) for one in kept), table
    assert any("******" in str(one) for one in await store.column("select text from outbound"))


async def test_what_belongs_to_a_turn_that_has_ended_cannot_be_approved_and_ends_with_it(office: Approving) -> None:
    office.model.script = [wants(("send_mail", MAIL))]
    await office.say("mail sam")
    await office.desk.store.eye.execute("update turns set state = 'failed' where state = 'waiting'")
    await office.desk.house.said(f"OK {await office.code()}")
    assert await office.states() == ["pending"]
    await office.work()
    assert "nothing was done" in office.last()
    assert (await office.states(), office.sent) == (["expired"], [])
