"""Calls that need an account which is missing, not allowed enough, or one of several."""

import re
from datetime import timedelta

from abilities.accounts.waiting import WaitingForAccounts
from core.agents.pool import Pool
from core.tools.account_access import MissingAccess
from tests.abilities.accounts.waiting.harness import ASKED, Needing, mailbox
from tests.core.builders import says, wants
from tests.plugins.mailbox import OPENED, REFUSING


async def test_a_missing_account_is_asked_for_and_the_turn_goes_on(needing: Needing) -> None:
    needing.answers(wants(("read_inbox", {})), says("You have one mail."))
    await needing.system.say("any mail?")
    assert needing.system.last().replace("\\", "") == ASKED
    assert OPENED == []
    await needing.system.work()
    assert await needing.connect("ann@example.org")
    assert needing.system.last() == "You have one mail."
    assert OPENED == ["read_inbox ann@example.org"]
    [told] = needing.system.model.told()
    assert "lunch on Friday" in told


async def test_calls_that_need_the_same_share_one_sentence(needing: Needing) -> None:
    needing.answers(wants(("read_inbox", {}), ("count_mail", {})), says("One new, 7 in all."))
    await needing.system.say("any mail, and how many?")
    assert len(needing.links.wanted) == 1
    assert (await needing.said())[-1].count("https://") == 1
    await needing.connect("ann@example.org")
    assert sorted(OPENED) == ["count_mail ann@example.org", "read_inbox ann@example.org"]
    assert (await needing.said())[-1] == "One new, 7 in all."


async def test_a_tool_that_finds_no_account_waits_and_runs_once(needing: Needing) -> None:
    needing.answers(wants(("look_for_mail", {})), says("Nothing new."))
    await needing.system.say("look for mail")
    assert (await needing.said())[-1] == ASKED
    await needing.connect("ann@example.org")
    assert OPENED == ["look_for_mail ann@example.org"]
    assert (await needing.said())[-1] == "Nothing new."


async def test_consent_is_asked_after_the_account_is_connected(needing: Needing) -> None:
    needing.answers(wants(("post_mail", {"to": "sam@example.com"})), says("It is sent."))
    await needing.system.say("mail sam")
    assert "https://valet.example.com/connect/1" in (await needing.said())[-1]
    assert await needing.system.states() == []
    await needing.connect("ann@example.org")
    assert await needing.system.states() == ["pending"]
    assert OPENED == []
    await needing.system.decide("Approve")
    assert OPENED == ["post_mail ann@example.org"]


async def test_an_agent_waits_for_its_account_before_its_card(needing: Needing) -> None:
    needing.answers(wants(("AnswerMailAgent", {})), says("Answered."))
    await needing.system.say("answer that mail")
    assert "https://valet.example.com/connect/1" in (await needing.said())[-1]
    await needing.connect("ann@example.org")
    assert needing.system.last().endswith("What should it say?")
    await needing.system.say("Friday is fine")
    await needing.system.decide("Approve")
    assert OPENED == ["AnswerMailAgent ann@example.org"]


async def test_a_call_inside_an_agents_own_loop_waits_and_goes_on(needing: Needing) -> None:
    needing.answers(wants(("SumUpMailAgent", {})), wants(("read_inbox", {})))
    await needing.system.say("what is in my inbox?")
    assert (await needing.said())[-1] == ASKED
    needing.answers(says("Lunch on Friday."), says("One mail, about lunch."))
    await needing.connect("ann@example.org")
    assert OPENED == ["read_inbox ann@example.org"]
    assert (await needing.said())[-1] == "One mail, about lunch."


async def test_the_preferred_of_several_accounts_serves_a_call_that_waited(needing: Needing) -> None:
    needing.answers(wants(("read_inbox", {})), says("One mail."))
    await needing.system.say("any mail?")
    await needing.connect("sender@example.org", "sender", reads=False)
    tenant = await needing.tenant()
    await needing.keeper.save(tenant, "email", mailbox("ann@example.org"), "home")
    await needing.keeper.save(tenant, "email", mailbox("ann@work.example"), "work")
    await needing.keeper.prefer(tenant, "email", "work")
    await needing.system.work()
    assert OPENED == ["read_inbox ann@work.example"]
    assert (await needing.said())[-1] == "One mail."


async def test_which_account_is_asked_before_the_card(needing: Needing) -> None:
    await needing.connect("ann@example.org", "home")
    await needing.connect("ann@work.example", "work")
    needing.answers(wants(("post_mail", {"to": "sam@example.com"})), says("It is sent."))
    await needing.system.say("mail sam")
    assert (await needing.said())[-1] == "Which account: home or work?"
    [offered] = [spec for spec in needing.system.model.requests[0].tools if spec.name == "post_mail"]
    assert "account" in offered.parameters["properties"]
    await needing.system.say("work")
    assert "Account: work" in needing.system.card().text.replace("`", "")
    await needing.system.decide("Approve")
    assert OPENED == ["post_mail ann@work.example"]


async def test_an_agent_asks_which_account_and_uses_the_answer(needing: Needing) -> None:
    await needing.connect("ann@example.org", "home")
    await needing.connect("ann@work.example", "work")
    needing.answers(wants(("AnswerMailAgent", {"words": "Yes"})), says("Answered."))
    await needing.system.say("answer that mail with yes")
    assert (await needing.said())[-1] == "Which account: home or work?"
    await needing.system.say("home")
    assert "Account: home" in needing.system.card().text.replace("`", "")
    await needing.system.decide("Approve")
    assert OPENED == ["AnswerMailAgent ann@example.org"]


async def test_one_account_is_neither_asked_for_nor_shown(needing: Needing) -> None:
    await needing.connect("ann@example.org")
    needing.answers(wants(("read_inbox", {})), says("One mail."))
    await needing.system.say("any mail?")
    assert (await needing.said())[-1] == "One mail."
    [offered] = [spec for spec in needing.system.model.requests[0].tools if spec.name == "read_inbox"]
    assert "account" not in offered.parameters["properties"]


async def test_an_account_that_allows_too_little_is_extended(needing: Needing) -> None:
    await needing.connect("ann@example.org", sends=False)
    needing.answers(wants(("post_mail", {"to": "sam@example.com"})), says("It is sent."))
    await needing.system.say("mail sam")
    assert "https://valet.example.com/connect/1" in (await needing.said())[-1]
    assert needing.links.wanted[0].needs == ("mail.send",)
    await needing.connect("ann@example.org")
    assert await needing.system.states() == ["pending"]


async def test_what_another_person_connects_changes_nothing(needing: Needing) -> None:
    needing.answers(wants(("read_inbox", {})), says("One mail."))
    await needing.system.say("any mail?")
    store = needing.system.delivery.store
    await store.db.tenants.add(tenant_id="bob")
    await needing.keeper.save("bob", "email", mailbox("bob@example.org"))
    assert not await WaitingForAccounts(store.database, store.wakeups).connected("bob")
    await needing.system.work()
    assert (await needing.said())[-1] == ASKED
    assert OPENED == []


async def test_another_account_that_does_not_serve_asks_nothing_again(needing: Needing) -> None:
    needing.answers(wants(("read_inbox", {})), says("One mail."))
    await needing.system.say("any mail?")
    said = await needing.said()
    await needing.connect("sender@example.org", "sender", reads=False)
    assert await needing.said() == said
    await needing.connect("ann@example.org")
    assert OPENED == ["read_inbox ann@example.org"]


async def test_waiting_ends_with_a_word_after_a_day(needing: Needing) -> None:
    needing.answers(wants(("read_inbox", {})), says("I could not read your mail."))
    await needing.system.say("any mail?")
    store = needing.system.delivery.store
    needing.clock.move(timedelta(hours=25))
    assert await Pool(store.database, store.wakeups).expire(needing.clock.now()) == 1
    await needing.system.work()
    assert (await needing.said())[-1] == "I could not read your mail."
    assert "no account was connected in time" in needing.system.model.told()[0]
    assert not await needing.connect("ann@example.org")
    assert OPENED == []


async def test_never_mind_ends_the_waiting(needing: Needing) -> None:
    needing.answers(wants(("read_inbox", {})))
    await needing.system.say("any mail?")
    needing.answers(wants(("hold_waiting_agent", {"change": "drop"})), says("All right, I leave your mail alone."))
    await needing.system.say("never mind")
    assert "read_inbox, which needs mail.read" in str(needing.system.model.requests[0].messages)
    assert (await needing.said())[-1] == "All right, I leave your mail alone."
    assert not await needing.connect("ann@example.org")
    assert OPENED == []


async def test_services_that_could_serve_are_named(needing: Needing) -> None:
    needing.links.choices = ("Google", "Microsoft", "email")
    needing.answers(wants(("read_inbox", {})))
    await needing.system.say("any mail?")
    link, later = ASKED.splitlines()
    assert (await needing.said())[-1] == f"{link} (Google, Microsoft or email)\n{later}"


async def test_it_is_asked_in_the_persons_language(needing: Needing) -> None:
    await needing.system.delivery.store.db.tenants.change({"language": "de", "language_from": ""})
    needing.answers(wants(("read_inbox", {})), says("Eine Mail."))
    await needing.system.say("neue Mail?")
    asked = (await needing.said())[-1]
    link, later = asked.splitlines()
    assert re.fullmatch(r"Um deine Mails zu lesen, .*https://valet\.example\.com/connect/1", link)
    assert later == "Der Link gilt 15 Minuten. Für einen neuen schreib: connect"
    await needing.connect("ann@example.org")
    assert (await needing.said())[-1] == "Eine Mail."


async def test_without_links_the_model_says_that_nothing_can_be_connected(needing: Needing) -> None:
    needing.system.options["account_asker"] = None
    needing.answers(wants(("read_inbox", {})), says("I cannot reach your mail here."))
    await needing.system.say("any mail?")
    assert (await needing.said())[-1] == "I cannot reach your mail here."
    assert "No account is connected whose mail I can read." in needing.system.model.told()[0]


async def test_a_revoked_account_is_renewed_and_the_call_goes_on(needing: Needing) -> None:
    await needing.connect("ann@example.org")
    await needing.system.delivery.store.admin.execute("update credentials set revoked_at = now()")
    needing.answers(wants(("read_inbox", {})), says("One mail."))
    await needing.system.say("any mail?")
    renew = "I no longer have access to your account ann@example.org: connect it again here: "
    assert (await needing.said())[-1].startswith(f"{renew}https://valet.example.com/connect/1\n")
    assert OPENED == []
    await needing.connect("ann@example.org")
    assert (await needing.said())[-1] == "One mail."


async def test_a_login_that_is_refused_waits_until_it_is_renewed(needing: Needing) -> None:
    await needing.connect("ann@example.org")
    REFUSING.add("ann@example.org")
    needing.answers(wants(("look_for_mail", {})), says("Nothing new."))
    await needing.system.say("look for mail")
    assert "I no longer have access" in (await needing.said())[-1]
    store = needing.system.delivery.store
    assert await store.one("select revoked_at is not null from credentials")
    REFUSING.clear()
    await needing.connect("ann@example.org")
    assert OPENED == ["look_for_mail ann@example.org"]
    assert (await needing.said())[-1] == "Nothing new."


async def test_a_run_tells_once_until_something_was_connected(needing: Needing) -> None:
    needing.answers(says("Hello."))
    await needing.system.say("hello")
    asker, tenant = needing.system.options["account_asker"], await needing.tenant()
    wanted = MissingAccess(("mail.read",))

    async def silent(turn: str, *, in_run: bool = True) -> bool:
        prompt = await asker.for_turn(tenant, turn, None, in_run=in_run).prompt(wanted)
        assert prompt is not None
        return bool(prompt.silent)

    assert [await silent("monday"), await silent("monday"), await silent("tuesday")] == [False, False, True]
    assert not await silent("asked", in_run=False)
    await needing.connect("ann@example.org")
    assert not await silent("wednesday")
