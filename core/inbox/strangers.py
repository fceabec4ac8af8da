"""Unknown senders: their messages are stored without text, and they get a pairing code if the policy says so."""

from dataclasses import dataclass, field

import structlog

from core.clock import Clock
from core.db.database import Database
from core.ids import IdMaker
from core.inbox.answers import takers_of_answers
from core.inbox.arrival import of_message
from core.inbox.link_requests import LinkStrangers
from core.language.catalogue import speaking
from core.language.written import language_written
from core.messaging.channels import Received
from core.messaging.messages import IgnoreReason, InboundMessage
from core.people.access_policy import Access, Policy
from core.people.pairing import (
    MAX_GUESSES_PER_ACCOUNT,
    MAX_GUESSES_PER_SENDER,
    VALID,
    code_hash,
    new_code,
    pairing_sentence,
)
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Strangers:
    """Record messages of strangers, and answer them as the policy says."""

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    access: Access
    clock: Clock
    links: LinkStrangers = field(init=False)

    def __post_init__(self) -> None:
        links = LinkStrangers(self.database, self.wakeups, self.make_id, self.clock)
        object.__setattr__(self, "links", links)

    async def meet(self, message: InboundMessage, sender: str) -> Received | None:
        """Store the message without its text; if the policy says so, queue the sentence with a code once (promise 12).

        An answer to a message of an ability's goes to the ability instead. Returns None for a message that was held
        back as such an answer but is awaited no longer: it now counts as its sender's own.
        """
        address, now = message.address, self.clock.now()
        arrival = of_message(message, sender, self.access, self.make_id)
        for take in takers_of_answers():
            if taken := await take(self.database, message, arrival, now):
                return taken
        if self.access.admits(address.channel, address.account, sender) is not None:
            return None
        if self.access.policy is Policy.PAIRING and (linked := await self.links.take(message, sender)):
            return linked
        code = new_code() if self.access.policy is Policy.PAIRING else ""
        with speaking(message.sender_language or language_written(message.text)):
            sentence = pairing_sentence(code) if code else ""
        row = await self.database.one(
            "select * from meet_stranger($1,$2,$3,$4,$5,$6,$7)",
            arrival,
            code_hash(code) if code else None,
            sentence,
            now,
            now + VALID,
            MAX_GUESSES_PER_SENDER,
            MAX_GUESSES_PER_ACCOUNT,
        )
        if row["conversation_id"]:
            self.wakeups.wake_delivery(row["conversation_id"])
        _log.info(
            "message_ignored",
            channel=address.channel,
            reason=IgnoreReason.UNKNOWN.value,
            code_given=bool(row["conversation_id"]),
        )
        return Received(message.keys[0] if message.keys else None, duplicate=row["duplicate"])
