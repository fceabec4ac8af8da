"""A program's messages to its assistant, and the replies."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import suppress

import structlog

from core.approvals.exact_replies import Verb, button
from core.approvals.types import PendingApproval
from core.errors import ConfigError
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.language.written import language_written
from core.messaging.inbound import Inbound
from core.messaging.messages import Address, DeliveryStatus, InboundMessage, Press, StatusUpdate
from core.people.access_policy import Access, Policy
from core.turns.event_stream import StreamEvent, StreamEventType
from core.turns.types import TurnState
from notify.addresses import AddressBook, AddressRefused
from onevalet.embedded import Reply
from onevalet.wiring.embedding import known_person
from onevalet.wiring.own_channels import only_sending
from onevalet.wiring.program import ACCOUNT, CHANNEL, ProgramNotification, ProgramTalk, Spoken, Watched
from onevalet.wiring.worker_parts import WorkerParts

_log = structlog.get_logger()

LOOK = 0.05
"""Seconds between two looks at the database for an answer; messages sent in this process end the wait sooner."""


class Talking:
    """People's conversations with the program, in each a single message at a time."""

    def __init__(self, parts: WorkerParts, channel: ProgramNotification) -> None:
        self._parts = parts
        self._channel = channel
        connections = parts.connections
        access = Access(Policy.ALLOWLIST)  # people who write have been admitted before
        self._inbox = Inbox(connections.database, connections.wakeups, make_id, access, clock=parts.clock)
        self._one_by_one: defaultdict[Address, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def person(self, tenant: str, timezone: str | None = None) -> str:
        """Return a person's id; admit new people."""
        return (await known_person(self._parts, tenant, timezone))[0]

    async def say(self, text: str, tenant: str, conversation: str) -> Reply:
        """Receive a message, and return the reply."""
        talk, key = await self._talk(tenant, conversation)
        return await self._answered(talk, _message(text, talk, key))

    async def stream(self, text: str, tenant: str, conversation: str) -> AsyncGenerator[StreamEvent]:
        """Do as `say`, and yield the events of its turn; the last is EXECUTION_END, even if the turn failed.

        Closing this stops the turn, and waits until it has stopped.
        """
        talk, key = await self._talk(tenant, conversation)
        watched = Watched(talk, _message(text, talk, key))
        answering = asyncio.create_task(self._answered(talk, watched.message, watched), name="program stream")
        answering.add_done_callback(lambda _: watched.events.put_nowait(None))
        try:
            while event := await watched.events.get():
                yield event
        finally:
            if not answering.done():
                await self._break_off(answering, watched)
        if error := answering.exception():
            told = error if isinstance(error, Exception) else RuntimeError("cancelled")
            yield StreamEvent(StreamEventType.EXECUTION_END, "", success=False, error=told)
            raise error
        reply = answering.result()
        succeeded = reply.state in (TurnState.DONE, TurnState.WAITING)
        yield StreamEvent(
            StreamEventType.EXECUTION_END,
            reply.turn_id or "",
            text=reply.text,
            success=succeeded,
            result=watched.result(reply.text),
        )

    async def stop(self, tenant: str, words: str, conversation: str) -> bool:
        """Stop the turn that runs, or is about to, in a conversation; return whether there was any."""
        talk, _ = await self._talk(tenant, conversation)
        while await talk.busy():
            if await self._asked_to_stop(talk, words):
                return True
            await self._news()
        return False

    async def _asked_to_stop(self, talk: ProgramTalk, words: str) -> bool:
        lane = await talk.stop(words)
        if lane:
            self._parts.connections.wakeups.interrupt_turn(lane)
        return lane is not None

    async def _break_off(self, answering: asyncio.Task[Reply], watched: Watched) -> None:
        """Stop the turn of a message whose reader has gone; a message that still waits is not sent."""
        if not watched.begun:
            answering.cancel()
        while watched.begun and not answering.done() and not await self._asked_to_stop(watched.talk, ""):
            await self._news()
        await asyncio.wait([answering])
        if not answering.cancelled() and (error := answering.exception()):
            _log.warning("broken_off", cause=type(error).__name__)

    async def unread(self, tenant: str, conversation: str) -> list[str]:
        """Return the sent and unread messages."""
        talk, _ = await self._talk(tenant, conversation)
        spoken = await talk.spoken(unread=True)
        await self._mark_read(spoken)
        return [message.text for message in spoken]

    async def add_address(self, tenant: str, channel: str, address: str) -> None:
        """Add an address for a person's notifications. Raises `ConfigError`."""
        connections = self._parts.connections
        book = AddressBook(connections.database, make_id, only_sending(connections.settings))
        try:
            await book.add(await self.person(tenant), channel, address)
        except AddressRefused as error:
            raise ConfigError(str(error)) from error

    async def decide(self, tenant: str, code: str, verb: Verb) -> Reply:
        """Decide an approval like the person's own press; raise `ConfigError` if none with that code waits."""
        talk, key = await self._talk(tenant, "")
        approval = await self._parts.assistant.approvals.find(talk.tenant_id, code)
        if approval is None:
            raise ConfigError(f"No {code.upper()} waits for a decision.")
        press = Press(talk.address, key, (make_id("press"),), button(verb, approval.token))
        return await self._answered(talk, press)

    async def pending(self, tenant: str) -> list[PendingApproval]:
        """Return a person's pending approvals from all conversations."""
        return await self._parts.assistant.approvals.list_pending(await self.person(tenant))

    async def _answered(self, talk: ProgramTalk, inbound: Inbound, watched: Watched | None = None) -> Reply:
        async with self._one_by_one[talk.address]:
            before = await talk.newest()
            with self._channel.watching(watched):
                if watched is not None:
                    watched.begun = True
                received = await self._inbox.accept(inbound)
                while await talk.busy():
                    await self._news()
            spoken = await talk.spoken(after=before)
            await self._mark_read(spoken)
        text = "\n\n".join(message.text for message in spoken)
        ended = await talk.ended(received.id or "")
        if watched is not None:
            watched.ended = ended
        waiting = await self._parts.assistant.approvals.list_pending(talk.tenant_id)
        return Reply(text or received.said or "", ended.state, ended.turn_id, ended.reason, tuple(waiting))

    async def _news(self) -> None:
        """Wait until something is sent in this process, or for a while."""
        self._channel.news.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._channel.news.wait(), LOOK)

    async def _mark_read(self, spoken: list[Spoken]) -> None:
        for message in spoken:
            provider_id = f"program-{message.ref}"
            await self._inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, provider_id, message.ref, DeliveryStatus.READ))

    async def _talk(self, tenant: str, conversation: str) -> tuple[ProgramTalk, str]:
        tenant_id, key = await known_person(self._parts, tenant)
        address = Address(CHANNEL, ACCOUNT, peer=key, thread=conversation)
        return ProgramTalk(self._parts.connections.database, tenant_id, address), key


def _message(text: str, talk: ProgramTalk, key: str) -> InboundMessage:
    message_id = make_id("said")
    return InboundMessage(
        talk.address, key, (message_id,), text, sender_language=language_written(text) or None, provider_id=message_id
    )
