"""An action that two people must approve: both cards, both or none, over every channel."""

from datetime import timedelta

import pytest

from core.approvals.exact_replies import Verb
from tests.abilities.joint.together import ASKED, MAIL, Together
from tests.contract.email_harness import also_by_mail
from tests.core.builders import FakeModel, says, wants
from tests.core.language.english import in_every_language

ONCE = [MAIL]


@also_by_mail
async def test_promise_9_it_runs_once_both_have_approved_whoever_is_first(home: Together) -> None:
    for first, second in (("ada", "grace"), ("grace", "ada")):
        home.sent.clear()
        before = home.count("grace")
        await home.both()
        card = home.heard("grace", before)
        for shown in ("Ada asks whether you agree", "inn@example.com", "A room", "Two nights, please."):
            assert shown in card
        assert "Needs Grace's yes, too" in home.heard("ada").replace("’", "'")
        await home.yes(first)
        assert home.sent == []
        told = home.count("grace")
        await home.yes(second)
        assert home.sent == ONCE
        assert "is done, as you and Ada agreed" in home.heard("grace", told)
    assert await home.joint() == [("ended", "")] * 2
    await home.work()
    assert home.sent == ONCE
    # A turn that only asked has ended with the decision, and no model was asked about it.
    assert await home.delivery.store.column("select distinct state from turns where reason = 'asks'") == ["done"]


@also_by_mail
async def test_promise_9_a_no_of_the_other_ends_it_and_the_asker_is_told(home: Together) -> None:
    for ada_first in (True, False):
        model = says("Grace did not agree.")
        await home.both(model)
        if ada_first:
            await home.yes("ada")
        before = home.count("ada")
        await home.no("grace")
        assert home.sent == []
        assert "Grace did not agree." in home.heard("ada", before)
        assert "Grace did not agree" in str(home.model.told()[-1])
        if not ada_first:
            assert "not both of you agreed" in await home.yes("ada")
        assert home.sent == []
    assert await home.joint() == [("ended", "other_refused")] * 2


@also_by_mail
async def test_promise_9_a_no_of_the_asker_ends_it_and_the_other_is_told(home: Together) -> None:
    for grace_first in (True, False):
        await home.both()
        if grace_first:
            await home.yes("grace")
        before = home.count("grace")
        await home.no("ada")
        assert "Ada took it back" in home.heard("grace", before)
        assert "not both of you agreed" in await home.yes("grace")
        assert home.sent == []
    assert await home.joint() == [("ended", "refused")] * 2


@also_by_mail
async def test_promise_9_an_edit_by_the_asker_voids_both(home: Together) -> None:
    await home.both()
    old = await home.code_of("grace")
    await home.yes("grace")
    (approval,) = await home.approvals_of("ada")
    await decide_edit(home, "ada", approval["id"], {"subject": "Two rooms"})
    assert await home.states_of("ada") == ["replaced", "pending"]
    assert await home.states_of("grace") == ["approved", "pending"]
    await home.yes("ada")
    # The yes for the old arguments counts for nothing.
    assert "not both of you agreed" in await home.ask(f"OK {old}", "grace")
    assert home.sent == []
    assert "Two rooms" in home.card_of("grace").text
    await home.yes("grace")
    assert home.sent == [MAIL | {"subject": "Two rooms"}]


async def test_promise_9_an_edit_by_the_other_voids_both(home: Together) -> None:
    await home.both()
    await home.yes("ada")
    (approval,) = await home.approvals_of("grace")
    before = home.count("ada")
    await decide_edit(home, "grace", approval["id"], {"subject": "Two rooms"})
    assert home.sent == []
    assert "Two rooms" in home.heard("ada", before)
    assert await home.states_of("ada") == ["replaced", "pending"]
    await home.yes("grace")
    assert home.sent == []
    await home.yes("ada")
    assert home.sent == [MAIL | {"subject": "Two rooms"}]


async def decide_edit(home: Together, person: str, approval_id: str, changes: dict[str, str]) -> None:
    """Let a person change their request, as the form and their own words do."""
    said = await home.delivery.store.one(
        "select id from inbound where tenant_id = $1 order by received_at desc, seq desc limit 1", home.tenants[person]
    )
    assert await home.approvals.decide(
        home.tenants[person],
        approval_id,
        Verb.EDIT,
        how="words",
        channel=home.delivery.channel.name,
        now=home.clock.now(),
        said_in=str(said),
        changes=dict(changes),
    )
    await home.work()


@pytest.mark.parametrize("yes", ["", "ada", "grace"])
async def test_promise_9_an_expiry_ends_it_and_both_are_told(home: Together, yes: str) -> None:
    await home.both(says("It was not decided in time."))
    if yes:
        await home.yes(yes)
    of_ada, of_grace = home.count("ada"), home.count("grace")
    home.clock.move(timedelta(minutes=40))
    await home.work()
    assert "It was not decided in time." in home.heard("ada", of_ada)
    assert "in time" in home.heard("grace", of_grace)
    assert home.sent == []
    for person in ("ada", "grace"):
        await home.yes(person)
        # Nor is it asked again of one of them.
        await home.ask(f"AGAIN {await home.code_of(person)}", person)
        assert len(await home.states_of(person)) == 1
    assert home.sent == []
    assert [state for state, _ in await home.joint()] == ["ended"]


@pytest.mark.parametrize("leaves", ["ada", "grace"])
async def test_who_leaves_the_household_ends_it_and_both_are_told(home: Together, leaves: str) -> None:
    if leaves == "ada":
        await home.ask("household make Grace owner")
    await home.both(says("You no longer share a household."))
    await home.yes("ada")
    of_ada, of_grace = home.count("ada"), home.count("grace")
    await home.ask("household leave", leaves)
    assert "You no longer share a household." in home.heard("ada", of_ada)
    assert "you and Ada no longer share a household" in home.heard("grace", of_grace)
    await home.yes("grace")
    assert home.sent == []
    assert await home.joint() == [("ended", "left")]


async def test_both_said_yes_and_one_leaves_before_it_runs(home: Together) -> None:
    await home.both(says("It was not sent."))
    await home.yes("grace")
    await home.delivery.store.admin.execute("delete from household_members where tenant_id = $1", home.tenants["grace"])
    await home.yes("ada")
    assert home.sent == []
    assert "no longer in one household" in str(home.model.told()[-1])


async def test_who_is_not_in_the_household_or_a_child_is_never_asked(home: Together) -> None:
    before = home.count("lena")
    await home.both(who="Lena")
    assert "does not name exactly one other person of your household" in str(home.model.told()[-1])
    await home.both(who="Ada")
    assert "does not name exactly one other person of your household" in str(home.model.told()[-1])
    assert home.count("lena") == before
    await home.joins("lena", role="child")
    await home.both(who="Lena")
    assert "is a child of the household" in str(home.model.told()[-1])
    assert home.sent == []
    assert await home.joint() == []


async def test_a_child_may_ask_whether_an_adult_agrees(home: Together) -> None:
    await home.joins("lena", role="child")
    await home.both(person="lena")
    await home.yes("lena")
    assert home.sent == []
    await home.yes("grace")
    assert home.sent == ONCE


@also_by_mail
async def test_nobody_else_decides_for_the_other(home: Together) -> None:
    await home.joins("lena")
    await home.both()
    code = await home.code_of("grace")
    for other in ("ada", "lena"):
        await home.ask(f"OK {code}", other)
        await home.ask("OK ALL", other)
        if home.delivery.channel.has_buttons:
            (asked,) = await home.approvals_of("grace")
            said = await home.forges(f"approve.{asked['token']}", other)
            assert said in in_every_language("This is not yours to decide.")
    assert await home.states_of("grace") == ["pending"]
    assert home.sent == []


async def test_ok_all_of_the_other_counts_for_ordinary_risk_only(home: Together) -> None:
    await home.both()
    await home.ask("OK ALL", "grace")
    assert await home.states_of("grace") == ["approved"]
    await home.yes("ada")
    assert home.sent == ONCE
    home.risk = "high"
    await home.both()
    await home.ask("OK ALL", "grace")
    assert (await home.states_of("grace"))[-1] == "pending"


async def test_the_same_tool_is_not_called_without_the_other_in_the_same_turn(home: Together) -> None:
    await home.both(wants(("send_mail", MAIL)), says("Very well."))
    await home.yes("ada")
    await home.no("grace")
    assert home.sent == []
    assert await home.states_of("grace") == ["cancelled", "pending"]
    await home.yes("ada")
    assert home.sent == []
    await home.yes("grace")
    assert home.sent == ONCE


async def test_who_cannot_be_reached_is_said_at_once(home: Together) -> None:
    await home.delivery.store.admin.execute(
        "update identities set state = 'stopped' where tenant_id = $1", home.tenants["grace"]
    )
    home.model = FakeModel([wants(("ask_both", ASKED)), says("Grace cannot be reached.")])
    assert "Grace cannot be reached." in await home.ask("send it if Grace agrees too")
    assert "I cannot reach Grace" in str(home.model.told()[-1])
    assert await home.approvals_of("ada") == []


async def test_who_writes_stop_ends_it(home: Together) -> None:
    await home.both(says("Grace cannot be reached any more."))
    await home.yes("ada")
    before = home.count("ada")
    await home.delivery.store.admin.execute(
        "update identities set state = 'stopped' where tenant_id = $1", home.tenants["grace"]
    )
    await home.work()
    assert "Grace cannot be reached any more." in home.heard("ada", before)
    assert await home.joint() == [("ended", "away")]


async def test_who_is_deleted_ends_it(home: Together) -> None:
    await home.both(says("Grace is gone."))
    await home.yes("ada")
    before = home.count("ada")
    await home.delivery.store.admin.execute("delete from tenants where tenant_id = $1", home.tenants["grace"])
    await home.work()
    assert "Grace is gone." in home.heard("ada", before)
    assert await home.joint() == [("ended", "gone")]
    assert home.sent == []


async def test_the_other_reads_their_card_in_their_language(home: Together) -> None:
    tenants = home.delivery.store.db.tenants
    await tenants.change({"language": "de", "timezone": "Europe/Berlin"}, tenant_id=home.tenants["grace"])
    await home.both()
    card = home.card_of("grace").text
    assert "Ada fragt" in card
    assert "inn@example.com" in card
    assert "UTC" in card
    assert "Needs Grace" in home.card_of("ada").text
