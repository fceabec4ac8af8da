"""Promise 12: strangers stay out, get one short sentence with a code, and cost nothing else."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from core.errors import ConfigError, RequestRefused
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, Listed, PersonRole, Policy, parse_listed
from core.people.pairing import (
    LETTERS,
    MAX_GUESSES,
    MAX_GUESSES_PER_ACCOUNT,
    MAX_GUESSES_PER_SENDER,
    VALID,
    Pairings,
    PairOutcome,
    code_hash,
    new_code,
    pairing_sentence,
)
from tests.clocks import StandingClock
from tests.core.harness import ACCOUNT, CHANNEL, OPEN, Store, message

ANN, BOB = "+15550000001", "+15550000002"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RESERVED = {"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "START", "YES", "UNSTOP"}


class Door:
    """An inbox with a policy, its clock, and what was said to strangers."""

    def __init__(self, store: Store, access: Access | None = None) -> None:
        self.store = store
        self.clock = StandingClock(NOW)
        self.inbox = Inbox(store.database, store.wakeups, store.make_id, access or Access(), clock=self.clock)
        self.pairings = Pairings(store.database, store.make_id)

    async def say(self, text: str = "hello", sender: str = ANN, *keys: str, name: str = "") -> bool:
        """Take a message in; tells whether it was a duplicate."""
        keys = keys or (self.store.make_id("SM"),)
        return (await self.inbox.accept(message(text, sender, *keys, name=name))).duplicate

    async def sentences(self) -> list[str]:
        return [str(text) for text in await self.store.db.outbound.column("text", order="created_at")]

    async def codes(self) -> list[str]:
        return [code for text in await self.sentences() for code in re.findall(r"[2-9A-Z]{4}-[2-9A-Z]{4}", text)]

    async def pair(self, code: str, role: PersonRole = PersonRole.MEMBER) -> PairOutcome:
        return (await self.pairings.redeem(code, role, self.clock.at)).outcome


async def test_promise_12_a_stranger_gets_one_code_and_nothing_else_happens(store: Store) -> None:
    door = Door(store)
    for text in ("hello", "anybody there?", "my secret is 42"):
        await door.say(text)
    [sentence] = await door.sentences()
    assert len(await door.codes()) == 1
    assert store.wakeups.turns == []
    assert len(store.wakeups.deliveries) == 1
    for empty in ("inbound", "turns", "lanes", "steps", "history", "inbox_keys"):
        assert await store.one(f"select count(*) from {empty}") == 0, empty  # noqa: S608
    assert await store.db.ignored_messages.column("reason") == ["unknown"] * 3
    kept = str(await store.everything())
    assert "anybody there" not in kept
    assert "my secret" not in kept
    assert len(sentence) <= 160
    assert not RESERVED & set(re.findall(r"[A-Z]+", sentence.upper()))


async def test_a_code_has_40_bits_and_no_letters_that_look_alike() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 32
    assert len(new_code()) == 8
    assert not set("01IO") & set(LETTERS)
    assert new_code(lambda letters: letters[0]) == "22222222"
    assert code_hash("abcd-efgh") == code_hash(" ABCD EFGH ") != code_hash("ABCDEFGJ")


async def test_the_code_lets_in_and_only_its_hash_is_kept(store: Store) -> None:
    door = Door(store)
    await door.say("lost")
    [code] = await door.codes()
    assert await store.db.pairings.column("code_hash") == [code_hash(code)]
    pairing = await door.pairings.redeem(code.lower(), PersonRole.OWNER, NOW)
    assert (pairing.outcome, pairing.channel, pairing.user_key) == (PairOutcome.PAIRED, CHANNEL, ANN)
    assert await store.db.tenants.column("role") == ["owner"]
    assert code not in str(await store.everything())
    await door.say("hello again")
    lease, turn = await store.claim_turn()
    # What was kept without its text stays so: the first message never comes back.
    assert [m.text for m in turn.request.inbound] == ["hello again"]
    assert lease.tenant_id == await store.db.person()


async def test_a_strangers_message_redelivered_after_pairing_stays_refused(store: Store) -> None:
    door = Door(store)
    await door.say("before", ANN, "SM1", "other")
    [code] = await door.codes()
    await door.pair(code)
    assert await door.say("before", ANN, "SM1")
    assert await door.say("before", ANN, "other", "third")
    assert await store.db.inbound.count() == 0


async def test_a_replayed_message_of_a_stranger_queues_no_second_reply(store: Store) -> None:
    door = Door(store)
    assert not await door.say("hello", ANN, "SM1")
    before = await store.everything()
    assert await door.say("hello", ANN, "SM1")
    assert await store.everything() == before


@pytest.mark.parametrize(
    ("typed", "outcome"), [("22222222", PairOutcome.WRONG), ("", PairOutcome.WRONG), ("код", PairOutcome.WRONG)]
)
async def test_wrong_codes_fail(store: Store, typed: str, outcome: PairOutcome) -> None:
    door = Door(store)
    await door.say()
    assert await door.pair(typed) is outcome
    assert await store.db.identities.column("admitted") == [""]


async def test_expired_and_replayed_codes_fail(store: Store) -> None:
    door = Door(store)
    await door.say(sender=ANN)
    await door.say(sender=BOB)
    ann, bob = await door.codes()
    assert await door.pair(ann) is PairOutcome.PAIRED
    assert await door.pair(ann) is PairOutcome.USED
    door.clock.at = NOW + VALID
    assert await door.pair(bob) is PairOutcome.EXPIRED
    assert await store.column("select user_key from identities where admitted <> ''") == [ANN]


async def test_guesses_are_counted_in_postgres_and_bounded(store: Store) -> None:
    door = Door(store)
    await door.say()
    [code] = await door.codes()
    for _ in range(MAX_GUESSES):
        assert await door.pair(new_code()) is PairOutcome.WRONG
    # Beyond the limit no code is looked at, not even the right one, by whatever process.
    other = Pairings(store.database, store.make_id)
    assert (await other.redeem(code, PersonRole.MEMBER, NOW)).outcome is PairOutcome.LIMITED
    limited = await other.redeem(code, PersonRole.MEMBER, NOW + timedelta(minutes=5))
    assert limited.until == NOW + timedelta(minutes=15)
    assert await store.db.guesses.count() == MAX_GUESSES
    door.clock.at = NOW + timedelta(minutes=15)
    assert await door.pair(code) is PairOutcome.PAIRED


async def test_strangers_who_hold_codes_shut_no_other_stranger_out(store: Store) -> None:
    door = Door(store)
    for number in range(10):
        await door.say(sender=f"+1555000100{number}")
    assert len(await door.codes()) == 10
    assert await store.db.ignored_messages.count() == 10
    assert await door.pair((await door.codes())[-1]) is PairOutcome.PAIRED


async def test_a_flood_of_strangers_uses_up_its_hour_and_not_the_next(store: Store) -> None:
    import asyncio

    door = Door(store)
    await asyncio.gather(*(door.say(sender=f"+155500010{number:02}") for number in range(MAX_GUESSES_PER_ACCOUNT + 5)))
    assert len(await door.codes()) == MAX_GUESSES_PER_ACCOUNT
    # Another account of ours has room of its own.
    elsewhere = message("hi", "+15550002000", "SMx")
    await door.inbox.accept(replace(elsewhere, address=replace(elsewhere.address, account="+15550008888")))
    assert len(await door.codes()) == MAX_GUESSES_PER_ACCOUNT + 1
    door.clock.at = NOW + timedelta(hours=1)
    await door.say(sender=BOB)
    assert await store.db.pairings.count(user_key=BOB) == 1


async def test_the_operator_admits_by_address_despite_a_flood_of_strangers(store: Store) -> None:
    door = Door(store)
    await door.say("hello", BOB)
    unknown = await door.pairings.admit(Listed("telegram", "42"), PersonRole.MEMBER, NOW)
    assert unknown == (), "nothing came in by such a channel yet: there is no account to let them in on"
    for sender in (ANN, BOB):
        [place] = await door.pairings.admit(Listed(CHANNEL, sender), PersonRole.OWNER, NOW)
        assert (place.account, place.user_key, place.outcome) == (ACCOUNT, sender, PairOutcome.PAIRED)
        await door.say("here I am", sender)
    assert await store.db.inbound.column("text", order="id") == ["here I am"] * 2
    assert await store.db.tenants.column("role") == ["owner"] * 2
    # And once more: the role of somebody who is in is changed.
    await door.pairings.admit(Listed(CHANNEL, ANN), PersonRole.GUEST, NOW)
    assert sorted(map(str, await store.db.tenants.column("role"))) == ["guest", "owner"]
    assert [await door.pair(code) for code in await door.codes()] == []


async def test_an_expired_code_leaves_nothing_of_the_stranger_and_makes_room(store: Store) -> None:
    door = Door(store)
    for number in range(3):
        await door.say(sender=f"+1555000100{number}", name="Mallory")
    door.clock.at = NOW + VALID
    await door.say(sender=BOB)
    assert await store.db.identities.column("user_key") == [BOB]
    assert await store.db.tenants.count() == 1
    assert await store.db.outbound.count() == 1
    assert "Mallory" not in str(await store.everything())


async def test_a_stranger_whose_reply_is_being_sent_is_not_deleted(store: Store) -> None:
    door = Door(store)
    await door.say()
    claim = await store.outbox.claim(None, "s1")
    assert claim is not None
    door.clock.at = NOW + VALID
    await door.say(sender=BOB)
    assert (await store.outbox.load(claim)).address.peer == ANN
    await store.outbox.give_back(claim)
    await store.database.rows("select * from drop_strangers($1)", door.clock.at)
    assert await store.db.identities.column("user_key") == [BOB]


async def test_a_sender_gets_so_many_codes_a_day(store: Store) -> None:
    door = Door(store)
    for hour in range(6):
        door.clock.at = NOW + hour * VALID
        await door.say()
    assert await store.db.pairings.count() == MAX_GUESSES_PER_SENDER


async def test_a_stranger_who_said_stop_is_not_written_to(store: Store) -> None:
    door = Door(store)
    await store.reach(ANN, False, "k1")
    await door.say()
    assert await door.sentences() == []
    await store.reach(ANN, True, "k2")
    await door.say()
    assert len(await door.codes()) == 1


async def test_a_stop_does_not_let_a_stranger_in_by_the_start_after_it(store: Store) -> None:
    door = Door(store)
    await door.say()
    await store.reach(ANN, False, "k1")
    assert await store.outbox.claim(None, "s1") is None  # the sentence was still ready: it does not leave
    await store.reach(ANN, True, "k2")
    await door.say("let me in")
    assert await store.db.inbound.count() == 0
    [code] = await door.codes()
    assert await door.pair(code) is PairOutcome.PAIRED


async def test_open_lets_everybody_in_and_greets_nobody(store: Store) -> None:
    door = Door(store, OPEN)
    await door.say()
    assert await store.db.identities.column("admitted") == ["open"]
    assert await door.sentences() == []
    assert len(store.wakeups.turns) == 1


async def test_allowlist_lets_in_who_is_listed_and_answers_nobody_else(store: Store) -> None:
    door = Door(store, Access(Policy.ALLOWLIST, frozenset({parse_listed(f"sms:{ANN}")})))
    await door.say(sender=ANN)
    await door.say(sender=BOB)
    assert await store.db.identities.column("user_key") == [ANN]
    assert await store.db.outbound.count() == 0
    assert await store.db.ignored_messages.column("reason") == ["unknown"]


async def test_a_person_removed_from_the_list_is_out_and_a_paired_one_stays(store: Store) -> None:
    listing = Access(Policy.ALLOWLIST, frozenset({parse_listed(f"sms:{ANN}")}))
    await Door(store, listing).say(sender=ANN)
    pairing = Door(store)
    await pairing.say(sender=BOB)
    [code] = await pairing.codes()
    await pairing.pair(code)
    emptied = Door(store, Access(Policy.ALLOWLIST))
    await emptied.say("still here?", ANN)
    await emptied.say("me too", BOB)
    assert await store.db.inbound.column("text", order="received_at") == ["hello", "me too"]


async def test_a_policy_that_opens_lets_a_waiting_stranger_in(store: Store) -> None:
    await Door(store).say()
    await Door(store, OPEN).say("now?")
    assert await store.db.inbound.column("text") == ["now?"]
    assert await store.db.tenants.column("role") == ["member"]
    await store.database.rows("select * from drop_strangers($1)", NOW + 2 * VALID)
    assert await store.db.tenants.count() == 1


@pytest.mark.parametrize("sender", ["", " ", "\x00", "\n\t"])
async def test_an_empty_caller_id_is_nobody_to_the_inbox(store: Store, sender: str) -> None:
    for access in (OPEN, None, Access(Policy.ALLOWLIST, frozenset({Listed(CHANNEL, "")}))):
        with pytest.raises(RequestRefused):
            await Door(store, access).say(sender=sender)
    assert await store.db.identities.count() == 0
    assert await store.db.ignored_messages.count() == 0


@pytest.mark.parametrize("table", ["identities", "pairings"])
async def test_an_empty_caller_id_is_nobody_to_the_database(store: Store, table: str) -> None:
    statement = {
        "identities": "select * from admit_identity('sms', $1, '', 'x', '', 'tn_1', 'idn_1', 'open', 'owner')",
        "pairings": "insert into pairings values ('\\x00', 'sms', $1, '', now(), now())",
    }[table]
    with pytest.raises(asyncpg.CheckViolationError):
        await store.database.rows(statement, ACCOUNT)


async def test_nothing_is_decided_by_a_display_name(store: Store) -> None:
    listing = Access(Policy.ALLOWLIST, frozenset({parse_listed(f"sms:{ANN}")}))
    await Door(store, listing).say(sender=ANN, name="Ann")
    for name in ("Ann", ANN, f"sms:{ANN}", "owner"):
        await Door(store, listing).say("as ann", BOB, name=name)
    assert await store.db.inbound.column("text") == ["hello"]


async def test_ids_that_differ_in_case_or_punctuation_only_are_different_people(store: Store) -> None:
    senders = ["U0ABC", "u0abc", "U0ABC ", "U0-ABC", "U0ABC.", "\uff35\uff10ABC"]
    for sender in senders:
        await Door(store, OPEN).say(sender=sender)
    assert await store.one("select count(distinct tenant_id) from identities") == len(senders)


@pytest.mark.parametrize(
    "entry",
    [
        *("sms:", "sms:15551234567", "sms:+1555 123 4567", "sms:ada", "sms:+15551234567:x", "SMS:+15551234567"),
        *("slack:U0456DEF", "slack:T0123ABC:ada", "slack:T0123ABC:@U0456DEF", "slack::U0456DEF", "slack:T0123ABC:"),
        *("telegram:@ada", "telegram:ada", "telegram:0", "telegram:", "telegram:-100123", "*", "", "ada"),
    ],
)
def test_the_allowlist_takes_ids_only(entry: str) -> None:
    with pytest.raises(ConfigError):
        parse_listed(entry)


def test_an_entry_of_the_allowlist_names_one_person_of_one_provider() -> None:
    listed = frozenset(parse_listed(e) for e in ("sms:+15551234567", "slack:T0A:U0B", "telegram:77"))
    access = Access(Policy.ALLOWLIST, listed)
    assert access.admits("sms", "+15550001111", "+15551234567") == "allowlist"
    assert access.admits("slack", "T0A", "U0B") == "allowlist"
    assert access.admits("telegram", "123", "77") == "allowlist"
    for other in [("slack", "T0X", "U0B"), ("slack", "T0A", "u0b"), ("telegram", "123", "0077"), ("sms", "x", "77")]:
        assert access.admits(*other) is None, other


def test_the_sentence_says_the_code_in_two_groups() -> None:
    assert "ABCD-EFGH" in pairing_sentence("ABCDEFGH")
