"""Decisions at the door: presses, forms and exact words, decided in the inbox's own transaction, without any lease."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

import asyncpg
import structlog

from core.approvals.decisions import Ruling, decide_any_press
from core.approvals.exact_decisions import decide_exact
from core.approvals.exact_replies import ExactReply, Verb, button, new_number, read_button
from core.approvals.facts import PressFacts, WordFacts
from core.approvals.form_check import form_errors
from core.approvals.outcomes import DecisionOutcome, moment, toast
from core.approvals.reactions import ReactedCard, decide_reaction
from core.approvals.types import read_form
from core.clock import Clock
from core.db.database import Database
from core.db.decided import Facts, decide_and_write
from core.ids import IdMaker
from core.inbox.arrival import of_message, of_press
from core.inbox.question_answers import Choices
from core.json_types import JsonObject
from core.language.catalogue import gettext, labelled, speaking
from core.messaging.channels import Received
from core.messaging.messages import Form, InboundMessage, Press
from core.people.access_policy import Access
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Decisions:
    """Receive decisions. Statements may be repeated: their keys make a repeat change nothing.

    On the channels in `codes_only` a bare word decides nothing; its answer lists the waiting codes.
    """

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    access: Access
    clock: Clock
    codes_only: frozenset[str] = frozenset()

    async def press(self, press: Press, sender: str, reacted: ReactedCard | None = None) -> Received | None:
        """Record a press or a submitted form, even a question's; return None if the token is not ours.

        `reacted`: it was no button, but a reaction to the card.
        """
        read = read_button(press.token)
        if read is None:
            choices = Choices(self.database, self.wakeups, self.make_id, self.access, self.clock)
            return await choices.press(press, sender)
        verb, token = read
        address = press.address
        if press.entered is not None and (errors := await self._form_errors(press, sender, token)):
            _log.info("form_not_taken", channel=address.channel, fields=len(errors))
            return Received(None, errors=errors)
        now = self.clock.now()
        entered: JsonObject | None = None if press.entered is None else dict(press.entered)
        arrival = of_press(press, sender, self.access, self.make_id)

        def decide(row: Facts) -> Ruling:
            facts = PressFacts.from_json(row)
            if reacted is not None:
                return decide_reaction(facts, verb, reacted, now)
            return decide_any_press(facts, verb, entered, now, has_forms=press.has_forms)

        made, row = await decide_and_write(
            self.database,
            ("select press_facts($1,$2) as facts", (arrival, token)),
            decide,
            lambda facts, ruling: (
                "select * from receive_press($1,$2,$3,$4,$5)",
                (arrival, token, facts, ruling.to_json(), now),
            ),
        )
        self._ring(row)
        # A duplicate changes nothing: it is told how the approval stands.
        outcome = DecisionOutcome(row["outcome"] or made.stands)
        _log.info(
            "reacted" if reacted else "pressed",
            channel=address.channel,
            outcome=outcome.value,
            duplicate=row["duplicate"],
        )
        timezone = row["timezone"] or ""
        with speaking(row["language"] or ""):
            if row["form"]:
                return Received(row["inbound_id"], row["duplicate"], form=_form(row["form"], verb, timezone, now))
            said = toast(outcome, row["about"], timezone, now)
        return Received(row["inbound_id"], row["duplicate"], said)

    async def _form_errors(self, press: Press, sender: str, token: str) -> dict[str, str]:
        """Return the errors of a form by field; none if its sender is not the person who was asked."""
        row = await self.database.call(
            "select * from form_sent($1,$2,$3,$4)", press.address.channel, press.address.account, sender, token
        )
        if row is None:
            return {}
        with speaking(row["language"]):
            return form_errors(read_form(row["form"]), dict(press.entered or ()))

    async def exact(self, message: InboundMessage, sender: str, exact: ExactReply) -> asyncpg.Record:
        """Record an exact word; return the row of `receive_message`, its `outcome` None if nothing was decided."""
        address = message.address
        channel, now, fresh = address.channel, self.clock.now(), new_number()
        arrival, codes_only = of_message(message, sender, self.access, self.make_id), channel in self.codes_only
        _, row = await decide_and_write(
            self.database,
            ("select word_facts($1,$2) as facts", (arrival, exact.code or "")),
            lambda facts: decide_exact(exact, WordFacts.from_json(facts), fresh, channel, now, codes_only=codes_only),
            lambda facts, ruling: (
                "select * from receive_exact($1,$2,$3,$4,$5)",
                (arrival, exact.code or "", facts, ruling.to_json(exact, fresh), now),
            ),
        )
        self._ring(row)
        if row["outcome"]:
            _log.info("decided_by_word", channel=address.channel, outcome=row["outcome"])
        return row

    def _ring(self, row: asyncpg.Record) -> None:
        if row["lane_id"]:
            self.wakeups.wake_turn(row["lane_id"])
        for lane in row["lanes_to_wake"] or ():
            self.wakeups.wake_turn(lane)
        if row["conversation_id"]:
            self.wakeups.wake_delivery(row["conversation_id"])


def _form(row: JsonObject, verb: Verb, timezone: str, now: datetime) -> Form:
    token, code = button(Verb.EDIT, str(row["token"])), str(row["code"])
    if verb is not Verb.DETAILS:
        return Form(token, gettext("Change {code}", code=code), str(row["summary"]), read_form(row["form"]))
    pairs = [*cast(list[list[str]], row["shown"]), [gettext("By"), str(row["name"])]]
    # A card that was pressed before its receipt came has no expiry yet.
    if row["until"]:
        pairs.append([gettext("Open until"), moment(datetime.fromisoformat(str(row["until"])), timezone, now)])
    return Form(
        token, gettext("Details of {code}", code=code), "\n".join(labelled(label, text) for label, text in pairs)
    )
