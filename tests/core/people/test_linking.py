"""One person on several channels: links, what they merge, and what may never be merged."""

import asyncio
import json
from datetime import timedelta

import pytest

from core.db.database import Connection
from core.messaging.messages import ReachabilityChange
from core.people.access_policy import Access, PersonRole, Policy
from core.people.link_codes import new_link_code
from core.people.merge import MergeHook
from core.people.pairing import MOST_GUESSES, Pairings, PairOutcome, new_code
from core.people.tenant_tables import MERGE_RULES, TENANT_TABLES
from tests.core.people.harness import CHAT, DESK, PHONE, House

ANN, ANN_CHAT, BOB = "+15550000001", "7001", "+15550000002"


async def keep(house: House, sender: str, account: tuple[str, str], *keys: str, value: str = "v") -> str:
    """Let somebody have notes and an account elsewhere."""
    tenant = await house.tenant(sender, account)
    for key in keys:
        await house.store.database.call("select put_value($1,'notes',$2,$3)", tenant, key, {"text": f"{value} {key}"})
    await house.credentials.save(tenant, "mail", {"token": value})
    return tenant


def test_every_table_of_a_tenants_says_what_a_merge_does_with_it() -> None:
    assert set(TENANT_TABLES) == set(MERGE_RULES)


def test_codes_have_forty_bits_and_look_like_no_words() -> None:
    code = new_link_code()
    assert (len(code), sum(letter.isdigit() for letter in code) >= 2) == (9, True)


@pytest.mark.parametrize(("there", "here"), [(CHAT, PHONE), (PHONE, DESK), (DESK, CHAT)])
async def test_a_code_from_one_channel_typed_on_another_makes_one_person(
    house: House, there: tuple[str, str], here: tuple[str, str]
) -> None:
    said = {"sms": "LINK {}", "slack": "link {}", "telegram": "/link {}"}[here[0]]
    code = await house.code("1001", there)
    await house.settle()
    assert await house.tenant("1001", there) != await house.tenant("2002", here)
    assert f"LINK {code} AGREE" in await house.ask(said.format(code.lower()), "2002", here)
    assert await house.store.one("select count(*) from tenants") == 2
    assert (await house.ask(said.format(f"{code} agree"), "2002", here)).startswith("Linked")
    assert await house.tenant("1001", there) == await house.tenant("2002", here) != ""
    assert await house.store.one("select count(*) from tenants") == 1
    # Once: not here, not there, not by anybody else.
    assert "used already" in await house.ask(said.format(code), "2002", here)
    assert "used already" in await house.ask(f"LINK {code}", BOB)


async def test_two_who_both_have_something_are_asked_and_then_share_everything(house: House) -> None:
    seen: list[tuple[str, str, int]] = []

    class Reissue(MergeHook):
        async def after(self, connection: Connection, kept: str, gone: str) -> None:
            seen.append((kept, gone, await connection.fetchval("select count(*) from conversations")))

    house.hooks = (Reissue(),)
    await house.ask("remember me", ANN)
    await house.ask("hello there", ANN_CHAT, CHAT)
    ann = await keep(house, ANN, PHONE, "a", "shared", value="text")
    chat = await keep(house, ANN_CHAT, CHAT, "b", "shared", value="chat")
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    before = await house.store.everything()
    asked = await house.ask(f"LINK {code}", ANN)
    assert "1 message, 2 kept notes and 1 connected account there" in asked
    assert "1 message, 2 kept notes and 1 connected account here" in asked
    assert f"LINK {code} AGREE" in asked
    assert (await house.tenant(ANN_CHAT, CHAT), len(seen)) == (chat, 0)
    assert await house.store.column("select tenant_id from credentials order by 1") == sorted([ann, chat])
    assert len(await house.store.column("select 1 from history")) == len(before["history"])
    assert (await house.ask(f"link {code} agree", ANN)).startswith("Linked")
    assert await house.tenant(ANN_CHAT, CHAT) == ann
    assert seen == [(ann, chat, 2)]
    for table in TENANT_TABLES:
        owners = await house.store.column(f"select distinct tenant_id from {table}")  # noqa: S608
        assert owners in ([ann], []), table
    values = await house.store.eye.fetch("select key, number, value from stored_values order by number")
    assert [(row["key"], row["number"], json.loads(row["value"])["text"]) for row in values] == [
        ("a", 1, "text a"), ("shared", 2, "text shared"), ("b", 3, "chat b"), (f"shared {chat}", 4, "chat shared"),
    ]  # fmt: skip
    assert await house.credentials.get(ann, "mail") == {"token": "text"}
    assert await house.credentials.get(ann, "mail", "primary 2") == {"token": "chat"}
    assert (await house.credentials.accounts(ann, "mail")).chosen == ""  # two fit: it is asked which
    # And they go on where they were, in both places.
    assert await house.ask("still here", ANN_CHAT, CHAT) == "re still here"
    assert await house.ask("me too", ANN) == "re me too"
    assert await house.store.one("select count(*) from person_audit where what = 'merged' and other = $1", chat) == 1


async def test_a_stale_a_replaced_and_a_foreign_code_link_nobody(house: House) -> None:
    await house.ask("LINK 234-567-89A", ANN)
    first, second = await house.code(ANN_CHAT, CHAT), await house.code(ANN_CHAT, CHAT)
    await house.settle()
    assert "run out" in await house.ask(f"LINK {first}", ANN)
    assert "not here" in await house.ask(f"/link {second}", ANN_CHAT, CHAT)
    house.clock.pass_by(timedelta(minutes=10))
    assert "run out" in await house.ask(f"LINK {second}", ANN)
    assert await house.store.one("select count(*) from tenants") == 2
    assert "link that page for me" in await house.ask("link that page for me", ANN)


async def test_codes_lie_hashed_and_are_taken_out_of_what_was_said(house: House) -> None:
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    rows = await house.store.database.rows("select * from drop_link_codes($1)", house.clock.now())
    assert rows[0]["codes"] == 0
    house.clock.pass_by(timedelta(minutes=11))
    rows = await house.store.database.rows("select * from drop_link_codes($1)", house.clock.now())
    assert rows[0]["codes"] == 1
    assert code not in str(await house.store.everything())


async def test_guesses_run_out_for_the_address_and_lock_nobody_else(house: House) -> None:
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    for _ in range(5):
        assert "gave nobody" in await house.ask(f"LINK {new_link_code()}", ANN)
    assert "Too many" in await house.ask(f"LINK {code}", ANN)
    # Others still may, however many wrong ones come in by this account.
    for number in range(9):
        for _ in range(5):
            await house.say(f"LINK {new_link_code()}", f"+1555000010{number}")
    await house.run()
    assert await house.store.one("select count(*) from person_audit where what <> 'code'") == 0
    assert (await house.link(code, BOB)).startswith("Linked")
    house.clock.pass_by(timedelta(hours=1, seconds=1))
    assert "used already" in await house.ask(f"LINK {code}", ANN)


async def test_a_stranger_comes_in_by_a_code_and_a_guessing_one_hears_nothing_of_it(house: House) -> None:
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    house.access = Access(Policy.PAIRING)
    for _ in range(6):
        await house.say(f"LINK {new_link_code()}", BOB)
    assert "give this code to whoever runs it" in await house.heard(BOB)
    await house.say(f"LINK {code}", BOB)  # right, but too late
    assert await house.tenant(BOB) != await house.tenant(ANN_CHAT, CHAT)
    await house.say(f"LINK {code}", ANN)
    assert f"LINK {code} AGREE" in await house.heard(ANN)
    assert await house.tenant(ANN) != await house.tenant(ANN_CHAT, CHAT)
    await house.say(f"LINK {code} AGREE", ANN)
    assert await house.tenant(ANN) == await house.tenant(ANN_CHAT, CHAT)
    assert (await house.heard(ANN)).startswith("Linked")
    assert await house.store.one("select admitted from identities where user_key = $1", ANN) == "link"
    assert await house.ask("hello", ANN) == "re hello"
    house.access = Access(Policy.ALLOWLIST)
    fresh = await house.store.one("select count(*) from identities")
    await house.say(f"LINK {await house.code(ANN)}", "+15550000003")
    assert await house.store.one("select count(*) from identities") == fresh


async def test_unlinked_a_place_is_a_new_person_and_may_be_linked_again(house: House) -> None:
    await house.ask("hello", ANN_CHAT, CHAT)
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    await house.link(code, ANN)
    ann = await keep(house, ANN, PHONE, "a")
    await house.settle()
    await house.say("more", ANN)
    house.clock.pass_by(timedelta(days=1))
    answered = await house.ask("UNLINK", ANN)
    assert answered.startswith("This place is on its own now")
    alone = await house.tenant(ANN)
    assert alone not in (ann, "")
    assert await house.tenant(ANN_CHAT, CHAT) == ann
    assert await house.store.one("select count(*) from stored_values where tenant_id = $1", alone) == 0
    assert await house.credentials.list(alone) == []
    assert await house.ask("UNLINK", ANN) == "This is the only place that I know you by, so there is nothing to unlink."
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    assert (await house.link(code, ANN)).startswith("Linked")
    assert await house.tenant(ANN) == await house.tenant(ANN_CHAT, CHAT) == alone
    assert await house.store.one("select count(*) from inbound where state = 'waiting'") == 0


async def test_nobody_is_merged_while_the_other_place_is_at_work(house: House) -> None:
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    await house.say("think hard", ANN_CHAT, CHAT)
    lease, _ = await house.store.claim_turn("w2")
    assert "again in a minute" in await house.link(code, ANN)
    assert await house.store.turns.renew(lease)
    await house.store.expire()
    assert (await house.ask(f"LINK {code} AGREE", ANN)).startswith("Linked")
    assert not await house.store.turns.renew(lease)
    # Taken up again, once.
    assert await house.store.one("select count(*) from outbound where text = 're think hard'") == 1


async def test_what_comes_in_during_a_merge_is_neither_lost_nor_doubled(house: House) -> None:
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    await house.ask(f"LINK {code}", ANN)
    await house.say(f"LINK {code} AGREE", ANN)

    async def chatter(number: int) -> None:
        for index in range(6):
            await house.say(f"{number}.{index}", ANN_CHAT if number % 2 else ANN, CHAT if number % 2 else PHONE)

    merging = [house.run(), house.store.reach(ANN, reachable=False, key="K")]
    await asyncio.gather(*(chatter(number) for number in range(4)), *merging)
    await house.store.reach(ANN, reachable=True, key="L")
    await house.run()
    ann = await house.tenant(ANN)
    # The other place may have been at work at the wrong moment; whatever came of it, all is whole.
    assert len(await house.store.column("select 1 from inbound where text like '%.%'")) >= 12
    for table in TENANT_TABLES:
        owners = set(await house.store.column(f"select distinct tenant_id from {table}"))  # noqa: S608
        assert owners <= {ann, await house.tenant(ANN_CHAT, CHAT)}, table
    assert await house.store.one("select count(*) from consents where state = 'stopped'") == 1
    assert await house.store.one("select count(*) from inbound where state = 'waiting'") == 0


async def test_guesses_made_at_once_are_counted_one_by_one(house: House) -> None:
    code = await house.code(ANN_CHAT, CHAT)
    await house.settle()
    pairings = Pairings(house.store.database, house.store.make_id)
    now = house.clock.now()
    tried = await asyncio.gather(*(pairings.redeem(new_code(), PersonRole.OWNER, now) for _ in range(30)))
    assert [one.outcome for one in tried].count(PairOutcome.WRONG) == MOST_GUESSES
    house.access = Access(Policy.PAIRING)
    await asyncio.gather(*(house.say(f"LINK {new_link_code()}", BOB) for _ in range(20)))
    assert await house.store.one("select count(*) from guesses where scope like 'link of%' || $1", BOB) == 5
    await house.say(f"LINK {code}", BOB)
    assert await house.tenant(BOB) != await house.tenant(ANN_CHAT, CHAT)


async def test_ids_that_differ_in_case_or_punctuation_are_others_to_codes_guesses_and_consents(house: House) -> None:
    code = await house.code("U0abc", DESK)
    await house.settle()
    for _ in range(5):
        await house.ask(f"LINK {new_link_code()}", "U0ABC", DESK)
    assert "Too many" in await house.ask(f"LINK {code}", "U0ABC", DESK)
    assert (await house.link(code, "U0ABC.", DESK)).startswith("Linked")
    assert len({await house.tenant(user, DESK) for user in ("U0abc", "U0ABC", "U0ABC.")}) == 2
    await house.store.inbox.accept(ReachabilityChange(*DESK, "U0abc", False, "blocked", ("B1",)))
    states = await house.store.eye.fetch("select user_key, state from identities where state <> 'active'")
    assert [tuple(row) for row in states] == [("U0abc", "blocked")]
