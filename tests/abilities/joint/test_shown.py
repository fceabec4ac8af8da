"""What others see of a joint consent: the receipt names both, and `trace` and the console show it on both sides."""

import json
from datetime import timedelta
from typing import Any

from abilities.joint.path import read_path
from agents.consents import AllowWithoutAskingAgent
from core.agents.registry import AgentRegistry
from core.db.database import Connection
from tests.abilities.joint.together import Together, open_together
from tests.contract.test_standing_consent import ASKED as STANDING
from tests.contract.test_standing_consent import POST, approves, post_update
from tests.core.builders import FakeModel, says, wants


async def turns_of(home: Together, person: str) -> list[str]:
    return [str(row["turn_id"]) for row in await home.approvals_of(person)]


async def told(home: Together, person: str) -> list[dict[str, Any]]:
    """Return a person's receipts."""
    rows = await home.delivery.store.admin.fetch(
        "select told from read_receipts($1, '2000-01-01', '2100-01-01', null, '', false, 50)", home.tenants[person]
    )
    return [json.loads(row["told"]) for row in rows]


async def paths(home: Together, person: str) -> tuple[list[Any], list[Any]]:
    """Return the lines and the notes about the first turn with a person's request."""
    (turn, *_), tenant = await turns_of(home, person), home.tenants[person]
    async with home.delivery.store.database.tenant(tenant) as connection:
        own: Connection = connection
        steps = await read_path(own, tenant, turn)
        return [step.line for step in steps], list(steps)


async def test_promise_9_the_receipt_of_the_one_run_names_both(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await home.both()
        await home.yes("grace")
        await home.yes("ada")
        (receipt,) = [one for one in await told(home, "ada") if one["tool"] == "send_mail"]
        (second,) = await home.approvals_of("grace")
        assert receipt["card"]["decided_on"] == "sms"
        assert receipt["card"]["also"]["name"] == "Grace"
        assert receipt["card"]["also"]["hash"] == second["hash"]
        assert receipt["card"]["also"]["how"] == "code"
        assert not [one for one in await told(home, "grace") if one["card"]]


async def test_the_paths_of_both_turns_show_the_consent(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await home.both()
        await home.yes("grace")
        await home.no("ada")
        (line,), (note,) = await paths(home, "ada")
        assert (line["what"], line["state"], line["reason"]) == ("CONSENT OF ANOTHER", "ended", "refused")
        assert (line["how"], line["channel"]) == ("code", "sms")
        assert note.title == "Needs the consent of Grace, too"
        (line,), (note,) = await paths(home, "grace")
        assert (line["what"], line["state"]) == ("ASKED FOR ANOTHER", "approved")
        assert note.title == "Asked for Ada"


async def test_promise_9_what_the_other_agreed_to_is_bound_to_the_askers_seal(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await home.both()
        admin = home.delivery.store.admin
        # Whoever could change the stored request of one would not have the other's consent to that.
        await admin.execute(
            "update approvals set sealed_tail = replace(sealed_tail, 'send_mail', 'pay') where tenant_id = $1",
            home.tenants["ada"],
        )
        await home.yes("grace")
        assert await home.joint() == [("ended", "altered")]
        assert home.sent == []


async def test_a_tool_that_asks_nobody_is_not_called_alone_after_a_no(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        home.more.append(post_update(home, needs_approval=False, standing=None))
        await home.both(wants(("post_update", POST)), says("Very well."), action="post_update", arguments=POST)
        await home.no("grace")
        assert home.sent == []
        assert await home.states_of("ada") == ["cancelled", "pending"]
        await home.yes("ada")
        assert home.sent == []
        await home.yes("grace")
        assert len(home.sent) == 1


async def test_no_standing_consent_stands_for_the_other(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        home.more.append(post_update(home))
        home.options["agents"] = AgentRegistry([AllowWithoutAskingAgent])
        home.model = FakeModel([wants(("AllowWithoutAskingAgent", STANDING)), says("Agreed.")])
        await home.ask("from now on post my standup to #team without asking")
        await approves(home)
        home.model = FakeModel([wants(("post_update", POST)), says("Posted.")])
        home.clock.move(timedelta(seconds=1))
        await home.ask("post my standup")
        assert len(home.sent) == 1
        await home.both(action="post_update", arguments=POST)
        assert len(home.sent) == 1
        await home.yes("ada")
        assert len(home.sent) == 1
        await home.yes("grace")
        assert len(home.sent) == 2
