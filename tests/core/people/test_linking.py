"""One person on several channels: links, what they merge, and what may never be merged."""

import asyncio
import json
from datetime import timedelta

import pytest

from core.db.database import Connection
from core.messaging.messages import ReachabilityChange, ReachabilityReason
from core.people.access_policy import Access, PersonRole, Policy
from core.people.commands import ALONE
from core.people.link_codes import new_link_code
from core.people.merge import MergeHook
from core.people.pairing import MAX_GUESSES, Pairings, PairOutcome, new_code
from core.people.tenant_tables import merge_rules, tenant_tables
from tests.core.people.harness import CHAT, DESK, PHONE, Harness

ANN, ANN_CHAT, BOB = "+15550000001", "7001", "+15550000002"
WORKS_NOT = "That code does not work."


async def keep(harness: Harness, sender: str, account: tuple[str, str], *keys: str, value: str = "v") -> str:
    """Let somebody have notes and an account elsewhere."""
    tenant = await harness.tenant(sender, account)
    for key in keys:
        await harness.store.database.call("select put_value($1,'notes',$2,$3)", tenant, key, {"text": f"{value} {key}"})
    await harness.credentials.save(tenant, "mail", {"token": value})
    return tenant


def test_every_table_of_a_tenants_says_what_a_merge_does_with_it() -> None:
    assert tenant_tables() == tuple(merge_rules())


async def test_rows_of_an_ability_that_is_here_no_more_go_with_their_person(harness: Harness) -> None:
    await harness.store.admin.execute(
        "create table pets (tenant_id text references tenants on delete cascade, name text, primary key"
        " (tenant_id, name)); select tenant_table('pets')"
    )
    code = await harness.code("1001", CHAT)
    await harness.settle()
    await harness.ask("hello", "2002")
    for sender, account, pet in (("1001", CHAT, "Rex"), ("2002", PHONE, "Rex"), ("1001", CHAT, "Tom")):
        await harness.store.admin.execute(
            "insert into pets values ($1, $2)", await harness.tenant(sender, account), pet
        )
    await harness.ask(f"LINK {code}", "2002")
    await harness.ask(f"LINK {code} AGREE", "2002")
    assert await harness.store.column("select name from pets order by 1") == ["Rex", "Tom"]
    assert await harness.store.column("select distinct tenant_id from pets") == [await harness.tenant("2002")]


def test_codes_have_forty_bits_and_look_like_no_words() -> None:
    code = new_link_code()
    assert (len(code), sum(letter.isdigit() for letter in code) >= 2) == (9, True)


@pytest.mark.parametrize(("there", "here"), [(CHAT, PHONE), (PHONE, DESK), (DESK, CHAT)])
async def test_a_code_from_one_channel_typed_on_another_makes_one_person(
    harness: Harness, there: tuple[str, str], here: tuple[str, str]
) -> None:
    command = {"sms": "LINK {}", "slack": "link {}", "telegram": "/link {}"}[here[0]]
    code = await harness.code("1001", there)
    await harness.settle()
    assert await harness.tenant("1001", there) != await harness.tenant("2002", here)
    assert f"LINK {code} AGREE" in await harness.ask(command.format(code.lower()), "2002", here)
    assert await harness.store.db.tenants.count() == 2
    assert (await harness.ask(command.format(f"{code} agree"), "2002", here)).startswith("Linked")
    assert await harness.tenant("1001", there) == await harness.tenant("2002", here) != ""
    assert await harness.store.db.tenants.count() == 1
    # Once: not here, not there, not by anybody else.
    assert "used already" in await harness.ask(command.format(code), "2002", here)
    assert "used already" in await harness.ask(f"LINK {code}", BOB)


async def test_what_is_known_of_accounts_follows_them_there_and_back(harness: Harness) -> None:
    tenants = {}
    for sender, channel in ((ANN, PHONE), (ANN_CHAT, CHAT)):
        await harness.ask("hello", sender, channel)
        tenants[channel] = await keep(harness, sender, channel, value=channel[0])
        await harness.credentials.prefer_for(tenants[channel], "mail", "primary", ["mail"])
    await harness.credentials.save(tenants[CHAT], "dav", {"token": "d"})
    await harness.credentials.prefer_for(tenants[CHAT], "dav", "primary", ["calendar"])
    for stored in await harness.credentials.stored(tenants[CHAT]):
        await harness.credentials.revoke(tenants[CHAT], stored)
    known = {channel: await accounts_of(harness, tenant) for channel, tenant in tenants.items()}
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    await harness.ask(f"LINK {code}", ANN)
    assert (await harness.ask(f"LINK {code} AGREE", ANN)).startswith("Linked")
    assert await accounts_of(harness, tenants[PHONE]) == {
        ("dav", "primary"): (True, {"calendar"}),
        ("mail", "primary"): (False, {"mail"}),
        ("mail", "primary 2"): (True, set()),
    }
    told = "select count(*) from credentials where attend_at is not null"
    assert await harness.store.one(told) == 2, "whoever was not told yet still is"
    assert (await harness.ask("UNLINK", ANN_CHAT, CHAT)).startswith("Taken back")
    known[CHAT]["mail", "primary"] = (True, set())  # one person has one default
    assert {channel: await accounts_of(harness, tenant) for channel, tenant in tenants.items()} == known


async def test_what_waits_for_an_account_goes_on_with_the_others(harness: Harness) -> None:
    await harness.ask("hello", ANN)
    await keep(harness, ANN, PHONE)
    await harness.ask("any mail?", ANN_CHAT, CHAT)
    chat = await harness.tenant(ANN_CHAT, CHAT)
    await harness.store.admin.execute(
        "insert into pool_entries (tenant_id, agent_id, agent_type, conversation_id, turn_id, agent_path, tool_call_id,"
        " status, schema_version, expires_at) select tenant_id, 'a', 'read_inbox', conversation_id, id, '0.1/r', 'c',"
        " 'WAITING_FOR_ACCOUNT', '', now() + interval '1 day' from turns where tenant_id = $1",
        chat,
    )
    await harness.store.db.turns.change({"state": "waiting"}, tenant_id=chat)
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    waits = "select count(*) from turns where state = 'waiting'"
    assert await harness.store.one(waits) == 1
    assert (await harness.link(code, ANN)).startswith("Linked")
    assert await harness.store.one(waits) == 0, "it was taken up again"


async def accounts_of(harness: Harness, tenant: str) -> dict[tuple[str, str], tuple[bool, set[str]]]:
    """Return whether each account has to be renewed, and for what it is used."""
    stored = await harness.credentials.stored(tenant)
    return {(one.service, one.name): (one.revoked, set(one.preferred_for)) for one in stored}


async def test_two_who_both_have_something_are_asked_and_then_share_everything(harness: Harness) -> None:
    seen: list[tuple[str, str, int]] = []

    class Reissue(MergeHook):
        async def after(self, connection: Connection, kept: str, gone: str) -> None:
            seen.append((kept, gone, await connection.fetchval("select count(*) from conversations")))

    harness.hooks = (Reissue(),)
    await harness.ask("remember me", ANN)
    await harness.ask("hello there", ANN_CHAT, CHAT)
    await harness.ask("prefs busy queue", ANN)  # what is kept for a repeat of it is no note
    ann = await keep(harness, ANN, PHONE, "a", "shared", value="text")
    chat = await keep(harness, ANN_CHAT, CHAT, "b", "shared", value="chat")
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    before = await harness.store.everything()
    asked = await harness.ask(f"LINK {code}", ANN)
    assert "1 message, 2 kept notes and 1 connected account there" in asked
    assert "1 message, 2 kept notes and 1 connected account here" in asked
    assert f"LINK {code} AGREE" in asked
    assert (await harness.tenant(ANN_CHAT, CHAT), len(seen)) == (chat, 0)
    assert await harness.store.db.credentials.column("tenant_id", order="1") == sorted([ann, chat])
    assert len(await harness.store.column("select 1 from history")) == len(before["history"])
    assert (await harness.ask(f"link {code} agree", ANN)).startswith("Linked")
    assert await harness.tenant(ANN_CHAT, CHAT) == ann
    assert seen == [(ann, chat, 2)]
    for table in tenant_tables():
        owners = await harness.store.column(f"select distinct tenant_id from {table}")  # noqa: S608
        assert owners in ([ann], []), table
    values = await harness.store.admin.fetch(
        "select key, number, value from stored_values where collection = 'notes' order by number"
    )
    assert [(row["key"], row["number"], json.loads(row["value"])["text"]) for row in values] == [
        ("a", 1, "text a"), ("shared", 2, "text shared"), ("b", 3, "chat b"), (f"shared {chat}", 4, "chat shared"),
    ]  # fmt: skip
    assert await harness.credentials.get(ann, "mail") == {"token": "text"}
    assert await harness.credentials.get(ann, "mail", "primary 2") == {"token": "chat"}
    assert (await harness.credentials.accounts(ann, "mail")).chosen == ""  # two fit: it is asked which
    # And they go on where they were, in both places.
    assert await harness.ask("still here", ANN_CHAT, CHAT) == "re still here"
    assert await harness.ask("me too", ANN) == "re me too"
    assert await harness.store.db.person_audit.count(what="merged", other=chat) == 1


async def test_a_stale_a_replaced_and_a_foreign_code_link_nobody(harness: Harness) -> None:
    await harness.ask("LINK 234-567-89A", ANN)
    first, second = await harness.code(ANN_CHAT, CHAT), await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    assert "run out" in await harness.ask(f"LINK {first}", ANN)
    assert "on the other channel" in await harness.ask(f"/link {second}", ANN_CHAT, CHAT)
    harness.clock.move(timedelta(minutes=10))
    assert "run out" in await harness.ask(f"LINK {second}", ANN)
    assert await harness.store.db.tenants.count() == 2
    assert "link that page for me" in await harness.ask("link that page for me", ANN)


async def test_codes_lie_hashed_and_are_taken_out_of_what_was_said(harness: Harness) -> None:
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    rows = await harness.store.database.rows("select * from drop_link_codes($1)", harness.clock.now())
    assert rows[0]["codes"] == 0
    harness.clock.move(timedelta(minutes=11))
    rows = await harness.store.database.rows("select * from drop_link_codes($1)", harness.clock.now())
    assert rows[0]["codes"] == 1
    assert code not in str(await harness.store.everything())


@pytest.mark.parametrize("words", ["LINK AAA-BBB-CCC", "link O0O-111-iii.", "LINK AAA-BBB-CCC agree"])
async def test_a_code_that_nobody_has_is_answered_exactly(harness: Harness, words: str) -> None:
    await harness.code(BOB)
    for sender, account in ((ANN, PHONE), (ANN_CHAT, CHAT)):
        answer = await harness.ask(words, sender, account)
        assert answer.startswith(f"{WORKS_NOT} A code works once, within ten minutes: ")


@pytest.mark.parametrize("words", ["link computers", "link old new now", "LINK the two notes"])
async def test_a_text_that_only_begins_with_link_is_the_models(harness: Harness, words: str) -> None:
    assert WORKS_NOT not in await harness.ask(words, ANN)


async def test_guesses_run_out_for_the_address_and_lock_nobody_else(harness: Harness) -> None:
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    for _ in range(5):
        assert WORKS_NOT in await harness.ask(f"LINK {new_link_code()}", ANN)
    assert "Too many" in await harness.ask(f"LINK {code}", ANN)
    # Others still may, however many wrong ones come in by this account.
    for number in range(9):
        for _ in range(5):
            await harness.say(f"LINK {new_link_code()}", f"+1555000010{number}")
    await harness.run()
    assert await harness.store.one("select count(*) from person_audit where what <> 'code'") == 0
    assert (await harness.link(code, BOB)).startswith("Linked")
    harness.clock.move(timedelta(hours=1, seconds=1))
    assert "used already" in await harness.ask(f"LINK {code}", ANN)


async def test_a_link_code_admits_a_stranger_and_a_guess_reveals_nothing(harness: Harness) -> None:
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    harness.access = Access(Policy.PAIRING)
    for _ in range(6):
        await harness.say(f"LINK {new_link_code()}", BOB)
    assert "give this code to whoever runs it" in await harness.heard(BOB)
    await harness.say(f"LINK {code}", BOB)  # right, but too late
    assert await harness.tenant(BOB) != await harness.tenant(ANN_CHAT, CHAT)
    await harness.say(f"LINK {code}", ANN)
    assert f"LINK {code} AGREE" in await harness.heard(ANN)
    assert await harness.tenant(ANN) != await harness.tenant(ANN_CHAT, CHAT)
    await harness.say(f"LINK {code} AGREE", ANN)
    assert await harness.tenant(ANN) == await harness.tenant(ANN_CHAT, CHAT)
    assert (await harness.heard(ANN)).startswith("Linked")
    assert await harness.store.db.identities.one("admitted", user_key=ANN) == "link"
    assert await harness.ask("hello", ANN) == "re hello"
    harness.access = Access(Policy.ALLOWLIST)
    fresh = await harness.store.db.identities.count()
    await harness.say(f"LINK {await harness.code(ANN)}", "+15550000003")
    assert await harness.store.db.identities.count() == fresh


async def test_unlinked_a_place_is_a_new_person_and_may_be_linked_again(harness: Harness) -> None:
    await harness.ask("hello", ANN_CHAT, CHAT)
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    await harness.link(code, ANN)
    ann = await keep(harness, ANN, PHONE, "a")
    await harness.settle()
    await harness.say("more", ANN)
    harness.clock.move(timedelta(days=1))
    answered = await harness.ask("UNLINK", ANN)
    assert answered.startswith("This channel stands on its own now")
    told = "select count(*) from notifications where category = 'reach'"
    assert await harness.store.one(told) == 0, "a person who unlinked a place knows that it is lost"
    alone = await harness.tenant(ANN)
    assert alone not in (ann, "")
    assert await harness.tenant(ANN_CHAT, CHAT) == ann
    assert await harness.store.db.stored_values.count(tenant_id=alone) == 0
    assert await harness.credentials.list(alone) == []
    assert await harness.ask("UNLINK", ANN) == ALONE
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    assert (await harness.link(code, ANN)).startswith("Linked")
    assert await harness.tenant(ANN) == await harness.tenant(ANN_CHAT, CHAT) == alone
    assert await harness.store.db.inbound.count(state="waiting") == 0


async def test_people_are_not_merged_while_the_other_lane_is_busy(harness: Harness) -> None:
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    await harness.say("think hard", ANN_CHAT, CHAT)
    lease, _ = await harness.store.claim_turn("w2")
    assert "again in a minute" in await harness.link(code, ANN)
    assert await harness.store.turns.renew(lease)
    await harness.store.expire()
    assert (await harness.ask(f"LINK {code} AGREE", ANN)).startswith("Linked")
    assert not await harness.store.turns.renew(lease)
    # Taken up again, once.
    assert await harness.store.db.outbound.count(text="re think hard") == 1


async def test_what_comes_in_during_a_merge_is_neither_lost_nor_doubled(harness: Harness) -> None:
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    await harness.ask(f"LINK {code}", ANN)
    await harness.say(f"LINK {code} AGREE", ANN)

    async def chatter(number: int) -> None:
        for index in range(6):
            await harness.say(f"{number}.{index}", ANN_CHAT if number % 2 else ANN, CHAT if number % 2 else PHONE)

    merging = [harness.run(), harness.store.reach(ANN, reachable=False, key="K")]
    await asyncio.gather(*(chatter(number) for number in range(4)), *merging)
    await harness.store.reach(ANN, reachable=True, key="L")
    await harness.run()
    ann = await harness.tenant(ANN)
    # The other place may have been at work at the wrong moment; whatever came of it, all is whole.
    assert len(await harness.store.column("select 1 from inbound where text like '%.%'")) >= 12
    for table in tenant_tables():
        owners = set(await harness.store.column(f"select distinct tenant_id from {table}"))  # noqa: S608
        assert owners <= {ann, await harness.tenant(ANN_CHAT, CHAT)}, table
    assert await harness.store.db.consents.count(state="stopped") == 1
    assert await harness.store.db.inbound.count(state="waiting") == 0


async def test_guesses_made_at_once_are_counted_one_by_one(harness: Harness) -> None:
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    pairings = Pairings(harness.store.database, harness.store.make_id)
    now = harness.clock.now()
    tried = await asyncio.gather(*(pairings.redeem(new_code(), PersonRole.OWNER, now) for _ in range(30)))
    assert [link.outcome for link in tried].count(PairOutcome.WRONG) == MAX_GUESSES
    harness.access = Access(Policy.PAIRING)
    await asyncio.gather(*(harness.say(f"LINK {new_link_code()}", BOB) for _ in range(20)))
    assert await harness.store.one("select count(*) from guesses where scope like 'link of%' || $1", BOB) == 5
    await harness.say(f"LINK {code}", BOB)
    assert await harness.tenant(BOB) != await harness.tenant(ANN_CHAT, CHAT)


async def test_ids_differing_in_case_or_punctuation_are_different_identities(
    harness: Harness,
) -> None:
    code = await harness.code("U0abc", DESK)
    await harness.settle()
    for _ in range(5):
        await harness.ask(f"LINK {new_link_code()}", "U0ABC", DESK)
    assert "Too many" in await harness.ask(f"LINK {code}", "U0ABC", DESK)
    assert (await harness.link(code, "U0ABC.", DESK)).startswith("Linked")
    assert len({await harness.tenant(user, DESK) for user in ("U0abc", "U0ABC", "U0ABC.")}) == 2
    await harness.store.inbox.accept(ReachabilityChange(*DESK, "U0abc", False, ReachabilityReason.BLOCKED, ("B1",)))
    states = await harness.store.admin.fetch("select user_key, state from identities where state <> 'active'")
    assert [tuple(row) for row in states] == [("U0abc", "blocked")]
