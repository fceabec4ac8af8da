"""People who write on several channels, and a worker that answers their commands."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.inbox.inbox import Inbox
from core.messaging.channels import Received
from core.messaging.messages import Address, Command, InboundMessage
from core.people.access_policy import Access
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.merge import MergeHook
from core.people.people import People
from core.people.preferences import PreferenceStore
from core.turns.store import TurnStore
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from tests.clocks import StandingClock
from tests.core.harness import LEASE, OPEN, Store
from tests.jobs.worker_harness import Answer, FewLines, echo

PHONE, CHAT, DESK = ("sms", "+15550009999"), ("telegram", "700"), ("slack", "T1")
"""Accounts of three channels."""
CODE = re.compile(r"LINK ([2-9A-Z]{3}-[2-9A-Z]{3}-[2-9A-Z]{3})")

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass(slots=True)
class Harness:
    """All that a person talks to, without a model."""

    store: Store
    clock: StandingClock = field(default_factory=lambda: StandingClock(NOON))
    hooks: tuple[MergeHook, ...] = ()
    access: Access = OPEN
    answer: Answer = echo

    @property
    def credentials(self) -> CredentialStore:
        """Return the credentials of all people."""
        return CredentialStore(self.store.database, SecretKeys([SecretKey("k", b"k" * 32)]))

    @property
    def linking(self) -> Linking:
        """Return the linking."""
        return Linking(self.store.database, self.credentials, self.store.make_id, hooks=self.hooks)

    @property
    def preferences(self) -> PreferenceStore:
        """Return the preferences."""
        return PreferenceStore(self.store.database)

    async def say(self, text: str, sender: str, account: tuple[str, str] = PHONE) -> Received:
        """Store what a person writes."""
        database, make_id = self.store.database, self.store.make_id
        inbox = Inbox(database, self.store.wakeups, make_id, self.access, clock=self.clock)
        key = make_id("SM")
        name, _, argument = text.removeprefix("/").partition(" ")
        command = Command(name, argument) if text.startswith("/") else None
        message = InboundMessage(Address(*account, sender), sender, (key,), text, command=command, provider_id=key)
        return await inbox.accept(message)

    async def run(self) -> None:
        """Run all waiting turns."""
        turns = TurnStore(self.store.database, self.store.make_id, LEASE)
        people = People(self.store.database, self.store.make_id, self.clock)
        commands = PersonCommands(self.linking, people)
        runner = TurnRunner(
            turns, FewLines(self.answer), self.store.wakeups, {}, self.store.make_id, "w1", TurnFeatures(commands)
        )
        while lease := await runner.claim(None):
            await runner.run(lease)

    async def ask(self, text: str, sender: str, account: tuple[str, str] = PHONE) -> str:
        """Write something and return the last reply of that conversation."""
        await self.say(text, sender, account)
        await self.run()
        return await self.heard(sender, account)

    async def heard(self, sender: str, account: tuple[str, str] = PHONE) -> str:
        """Return the last reply to an address."""
        row = await self.store.one(
            "select o.text from outbound o join conversations c on c.tenant_id = o.tenant_id"
            " and c.id = o.conversation_id where c.channel = $1 and c.account = $2 and c.peer = $3"
            " order by o.created_at desc, o.seq desc limit 1",
            *account,
            sender,
        )
        return str(row or "")

    async def code(self, sender: str, account: tuple[str, str] = PHONE) -> str:
        """Return a link code that a person asked for."""
        match = CODE.search(await self.ask("/link" if account is CHAT else "LINK", sender, account))
        assert match is not None
        return match[1]

    async def link(self, code: str, sender: str, account: tuple[str, str] = PHONE) -> str:
        """Type a code as a person and agree to the question; return the last reply."""
        word = "/link" if account is CHAT else "LINK"
        asked = await self.ask(f"{word} {code}", sender, account)
        return await self.ask(f"{word} {code} AGREE", sender, account) if code.upper() in asked else asked

    async def tenant(self, sender: str, account: tuple[str, str] = PHONE) -> str:
        """Return the tenant of an address, or an empty string."""
        query = "select tenant_id from identities where channel = $1 and account = $2 and user_key = $3"
        return str(await self.store.one(query, *account, sender) or "")

    async def settle(self) -> None:
        """Mark all replies as sent."""
        await self.store.admin.execute("update outbound set state = 'sent', owner = null where state <> 'held'")
