"""Links over two channels at once: a code that was phished hands nothing over, and everybody concerned is told."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from abilities.events.merge import EventSourceMerge
from abilities.memory.merge import MemoryMerge
from core.approvals.store import ApprovalMerge
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, PersonRole, Policy
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from core.people.profile import ProfileMerge
from jobs.delivery.runner import DeliveryRunner
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from notify.merge import MutedMerge
from tests.clocks import StandingClock
from tests.contract.canaries import PEOPLE, marked
from tests.contract.channel_harnesses import SmsHarness, TelegramHarness
from tests.contract.harness import ChannelHarness, open_harness
from tests.core.harness import Store, opened
from tests.jobs.worker_harness import FewLines, echo

CODE = re.compile(r"LINK ([2-9A-Z]{3}-[2-9A-Z]{3}-[2-9A-Z]{3})")
GUEST = Access(Policy.OPEN, role=PersonRole.GUEST)


@dataclass(slots=True)
class Town:
    """One installation with a phone number and a bot: Ada is its owner, by SMS; Grace writes to the bot."""

    store: Store
    clock: StandingClock
    sms: ChannelHarness
    telegram: ChannelHarness
    commands: PersonCommands
    credentials: CredentialStore

    async def say(self, harness: ChannelHarness, text: str, person: str) -> str:
        """Let somebody write, see to all of it, and give what they read last."""
        await harness.said(text, person)
        senders = {channel.name: channel.sender for channel in (self.sms, self.telegram)}
        turns = TurnRunner(
            self.store.turns,
            FewLines(echo),
            self.store.wakeups,
            {},
            self.store.make_id,
            "w1",
            TurnFeatures(self.commands),
        )
        delivery = DeliveryRunner(self.store.outbox, senders, "w1")
        while lease := await turns.claim(None):
            await turns.run(lease)
        while claim := await delivery.claim(None):
            await delivery.run(claim)
        return harness.bubbles(person)[-1].text

    async def ada(self, text: str) -> str:
        """Let the victim text."""
        return await self.say(self.sms, text, "ada")

    async def grace(self, text: str) -> str:
        """Let the attacker write to the bot."""
        return await self.say(self.telegram, text, "grace")

    def admit_by(self, access: Access) -> None:
        """Let people in by another policy from now on."""
        inbox = Inbox(self.store.database, self.store.wakeups, self.store.make_id, access, clock=self.clock)
        for harness in (self.sms, self.telegram):
            harness.sink.inner = inbox

    async def tenant(self, channel: str) -> str:
        """Return whose the address on a channel is."""
        # What was unlinked stays with whom it was, blocked.
        query = "select tenant_id from identities where channel = $1 and admitted <> '' and state = 'active'"
        return str(await self.store.one(query, channel) or "")

    async def role(self, channel: str) -> str:
        """Return what the person behind an address is."""
        tenant = await self.tenant(channel)
        return str(await self.store.db.tenants.one("role", tenant_id=tenant))


@asynccontextmanager
async def open_town(database_url: str, access: Access = GUEST) -> AsyncIterator[Town]:
    """Serve both channels over one empty database."""
    async with opened(database_url) as store:
        clock = StandingClock()
        clock.at = datetime.now(UTC)
        credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", b"k" * 32)]))
        hooks = (MemoryMerge(), ProfileMerge(), ApprovalMerge(clock), EventSourceMerge(credentials), MutedMerge())
        linking = Linking(store.database, credentials, store.make_id, hooks=hooks)
        commands = PersonCommands(linking, People(store.database, store.make_id, clock))
        inbox = Inbox(store.database, store.wakeups, store.make_id, access, clock=clock)
        async with open_harness(SmsHarness, inbox) as sms, open_harness(TelegramHarness, inbox) as telegram:
            yield Town(store, clock, sms, telegram, commands, credentials)


@pytest.fixture
async def town(database_url: str) -> AsyncIterator[Town]:
    """Yield a town whose victim has notes and an account elsewhere."""
    async with open_town(database_url) as town:
        await town.ada(marked("hello"))
        tenant = await town.tenant("sms")
        await town.store.db.tenants.change({"role": "owner"}, tenant_id=tenant)
        await town.store.database.call("select put_value($1,'notes','alarm',$2)", tenant, {"text": marked("BLUEBIRD")})
        await town.credentials.save(tenant, "mail", {"token": marked("token")})
        yield town


async def phished(town: Town) -> str:
    """Let the attacker get a code, and the victim text it."""
    match = CODE.search(await town.grace("/link"))
    assert match is not None
    return match[1]


async def test_a_phished_code_links_nobody_before_its_typer_agrees(town: Town) -> None:
    code = await phished(town)
    asked = await town.ada(f"LINK {code}")
    assert await town.tenant("sms") != await town.tenant("telegram"), asked
    for part in ("Telegram", "002", "Grace", "everything", f"LINK {code} AGREE"):
        assert part in asked, part
    assert "700100002" not in asked, "masked"


async def test_consent_sent_along_with_the_code_counts_only_after_the_question(town: Town) -> None:
    code = await phished(town)
    asked = await town.ada(f"LINK {code} AGREE")
    assert f"LINK {code} AGREE" in asked
    assert await town.tenant("sms") != await town.tenant("telegram")
    assert (await town.ada(f"LINK {code} AGREE")).startswith("Linked")


async def test_all_places_of_both_are_told_of_a_link_and_no_role_rises(town: Town) -> None:
    code = await phished(town)
    assert "guest here too" in await town.ada(f"LINK {code}")
    before = len(town.telegram.bubbles("grace"))
    answered = await town.ada(f"LINK {code} AGREE")
    assert answered.startswith("Linked")
    for part in ("Telegram", "002", "UNLINK"):
        assert part in answered, part
    assert await town.tenant("sms") == await town.tenant("telegram")
    replies = town.telegram.bubbles("grace")[before:]
    assert len(replies) == 1
    for part in ("SMS +1", "7701", "UNLINK"):
        assert part in replies[0].text, part
    assert PEOPLE[0].phone not in replies[0].text
    assert (await town.role("sms"), await town.role("telegram")) == ("guest", "guest")


async def test_promise_12_a_stranger_with_a_code_is_asked_before_they_come_in(database_url: str) -> None:
    async with open_town(database_url, Access(Policy.OPEN)) as town:
        await town.ada(marked("hello"))
        code = CODE.search(await town.ada("LINK"))
        assert code is not None
        town.admit_by(Access(Policy.PAIRING))
        asked = await town.grace(f"/link {code[1]} AGREE")
        assert await town.tenant("telegram") == ""
        for part in ("SMS +1", "7701", "everything", f"LINK {code[1]} AGREE"):
            assert part in asked, part
        assert (await town.grace(f"LINK {code[1]} agree")).startswith("Linked")
        assert await town.tenant("telegram") == await town.tenant("sms")
        assert "Telegram" in town.sms.bubbles("ada")[-1].text
        assert "002 (Grace" in town.sms.bubbles("ada")[-1].text
        assert await town.grace(marked("hello")) == f"re {marked('hello')}"


OWN = ("stored_values", "credentials", "memories", "profile_facts", "tasks", "approvals")
"""What the attacker wants of the victim."""


async def give_all(town: Town, tenant: str) -> None:
    """Let the victim have a row in each of those."""
    turn = await town.store.one("select id from turns where tenant_id = $1 limit 1", tenant)
    async with town.store.database.tenant(tenant) as connection:
        await connection.execute(
            "insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from)"
            " values ($1, 'mem_v', 1, 'the alarm is BLUEBIRD', 'person', 'told', 'k', now(), now())",
            tenant,
        )
        await connection.execute("select keep_fact($1, 'fact_v', 'home', 'Lisbon', 'told', '', now())", tenant)
        await connection.execute(
            "insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at)"
            " values ($1, 't_v', 1, 'T', 'event', '{}', now(), now() - interval '1 day')",
            tenant,
        )
        await connection.execute(
            "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary,"
            " arguments, shown, code, token, timeout, sealed_head, sealed_tail, created_at)"
            " select tenant_id, 'apr_v', id, '0.1/mail', 1, conversation_id, 'mail', 'mail', '{}', '[]', '7K',"
            " tenant_id, '1 hour', 'h', 't', now() from turns where tenant_id = $1 and id = $2",
            tenant,
            turn,
        )


async def taken_over(town: Town, *, reverse: bool) -> tuple[str, str]:
    """Let the attack succeed, by the victim's consent or by a code that the victim gave away; give both tenants."""
    victim = await town.tenant("sms")
    await give_all(town, victim)
    if reverse:
        code = CODE.search(await town.ada("LINK"))
        assert code is not None
        await town.grace(f"/link {code[1]}")
        await town.grace(f"/link {code[1]} AGREE")
    else:
        code_ = await phished(town)
        await town.ada(f"LINK {code_}")
        await town.ada(f"LINK {code_} AGREE")
    assert await town.tenant("sms") == await town.tenant("telegram")
    return victim, await town.tenant("sms")


@pytest.mark.parametrize("reverse", [False, True], ids=["the victim typed the code", "the victim gave the code"])
@pytest.mark.parametrize("by", ["victim", "attacker"])
async def test_within_a_day_unlink_from_either_side_takes_a_link_back(town: Town, reverse: bool, by: str) -> None:
    attacker_before = await town.grace("/link") and await town.tenant("telegram")
    victim, merged = await taken_over(town, reverse=reverse)
    await town.grace(marked("list my notes"))  # said while linked, in the attacker's chat
    await town.store.database.call("select put_value($1,'notes','later',$2)", merged, {"text": "since"})
    town.clock.move(timedelta(hours=23))
    answered = await (town.ada("UNLINK") if by == "victim" else town.grace("unlink"))
    assert answered.startswith("Taken back")
    assert (await town.tenant("sms"), await town.tenant("telegram")) == (victim, attacker_before)
    assert (await town.role("sms"), await town.role("telegram")) == ("owner", "guest")
    for table in OWN:
        assert set(await town.store.column(f"select tenant_id from {table}")) == {victim}, table  # noqa: S608
    assert await town.store.db.stored_values.column("key", order="number") == ["alarm", "later"]
    assert await town.credentials.get(victim, "mail") == {"token": marked("token")}
    sees = "select message from history h join conversations c on c.id = h.conversation_id and c.session = h.session"
    assert await town.store.column(f"{sees} where h.tenant_id = $1", attacker_before) == []
    other = town.telegram.bubbles("grace")[-1].text if by == "victim" else town.sms.bubbles("ada")[-1].text
    assert other.startswith("Taken back"), "the other side is told"
    assert await town.grace(marked("and now")) == f"re {marked('and now')}"
    assert await town.ada(marked("and I")) == f"re {marked('and I')}"
    assert "only channel" in await town.ada("UNLINK")


async def test_after_a_day_unlink_lets_the_place_start_again(town: Town) -> None:
    _, merged = await taken_over(town, reverse=False)
    town.clock.move(timedelta(hours=24))
    assert (await town.grace("unlink")).startswith("This channel stands on its own now")
    assert await town.tenant("sms") == merged != await town.tenant("telegram")


async def test_a_stranger_who_came_by_a_code_is_a_stranger_again(database_url: str) -> None:
    async with open_town(database_url, Access(Policy.OPEN)) as town:
        await town.ada(marked("hello"))
        code = CODE.search(await town.ada("LINK"))
        assert code is not None
        town.admit_by(Access(Policy.PAIRING))
        await town.grace(f"/link {code[1]}")
        await town.grace(f"/link {code[1]} AGREE")
        person = await town.tenant("telegram")
        assert (await town.ada("UNLINK")).startswith("Taken back")
        assert (await town.tenant("sms"), await town.tenant("telegram")) == (person, "")
        assert "give this code to whoever runs it" in await town.grace(marked("are you there"))
