"""Choices at the door: pressed answers to questions, stored in the inbox's own transaction, without any lease."""

from dataclasses import dataclass

import structlog

from core.clock import Clock
from core.db.database import Database
from core.ids import IdMaker
from core.inbox.arrival import of_press
from core.language.catalogue import speaking
from core.messaging.channels import Received
from core.messaging.messages import Press
from core.people.access_policy import Access
from core.questions.buttons import read_choice
from core.questions.outcomes import ChoiceOutcome, toast
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Choices:
    """Receive answers to questions. Statements may be repeated: their keys make a repeat change nothing."""

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    access: Access
    clock: Clock

    async def press(self, press: Press, sender: str) -> Received | None:
        """Record a press as an answer; return None if its token is not ours. The first answer counts."""
        read = read_choice(press.token)
        if read is None or press.entered is not None:
            return None
        choice, token = read
        arrival = of_press(press, sender, self.access, self.make_id)
        row = await self.database.one(
            "select * from receive_choice($1,$2,$3,$4)", arrival, choice, token, self.clock.now()
        )
        for lane in row["lanes_to_wake"]:
            self.wakeups.wake_turn(lane)
        _log.info("chosen", channel=press.address.channel, outcome=row["outcome"], duplicate=row["duplicate"])
        with speaking(row["language"] or ""):
            said = toast(ChoiceOutcome(row["outcome"]), row["answer"])
        return Received(row["inbound_id"], row["duplicate"], said)
