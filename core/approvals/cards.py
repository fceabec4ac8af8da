"""The card of a request for consent: its text and its buttons. Pure."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from core.approvals.exact_replies import Verb, button
from core.approvals.outcomes import CardOutcome, card_line, moment
from core.approvals.rendering import as_markdown
from core.approvals.types import HIGH, NewApproval
from core.json_types import JsonObject
from core.language.catalogue import gettext, labelled
from core.language.times import duration_in_words
from core.messaging.due_messages import CardState
from core.messaging.messages import Action, ActionStyle, OutboundKind, OutboundMessage
from core.messaging.visible_text import literal, plain_words


@dataclass(frozen=True, slots=True)
class Card:
    """A card and the request that it shows, to be committed together."""

    message: OutboundMessage
    approval: NewApproval

    def to_json(self) -> JsonObject:
        return asdict(self.message) | {"approval": self.approval.to_json(), "shows": self.approval.id}


def card(approval: NewApproval, outbound_id: str) -> Card:
    """Return the card of a request: action, every argument and the code, with the buttons below."""
    buttons = actions(approval.token, editable=approval.editable)
    closing = _until_decided(approval.code, timedelta(seconds=approval.seconds), editable=approval.editable)
    text = "\n".join([*_lines(approval), closing])
    message = OutboundMessage(outbound_id, OutboundKind.CARD, text, actions=buttons, closing=closing)
    return Card(message, approval)


def as_it_stands(message: OutboundMessage, asks: CardState, timezone: str | None, now: datetime) -> OutboundMessage:
    """Return a card as it is sent now: it may have been held, have moved to another chat, or be sent again.

    If the request is decided, the card states the outcome and asks for nothing.
    """
    if not message.closing or not message.text.endswith(message.closing):
        return message  # it has no line about its time, or was forgotten
    ended = asks.decided_at
    outcome = CardOutcome(asks.ended) if asks.ended else None
    if outcome is None and asks.expires_at is not None and asks.expires_at <= now:
        outcome, ended = CardOutcome.EXPIRED, asks.expires_at
    if outcome is not None:
        closing = card_line(outcome, ended or now, timezone, now)
        return replace(message, text=message.text.removesuffix(message.closing) + closing, closing=closing, actions=())
    if asks.expires_at is None:
        closing = _until_decided(asks.code, asks.timeout, editable=asks.editable)
    else:
        closing = _until(asks.code, moment(asks.expires_at, timezone, now), editable=asks.editable)
    return replace(message, text=message.text.removesuffix(message.closing) + closing, closing=closing)


def actions(token: str, *, editable: bool) -> tuple[Action, ...]:
    edit = (Action(gettext("Edit"), button(Verb.EDIT, token)),) if editable else ()
    return (
        Action(gettext("Approve"), button(Verb.APPROVE, token), ActionStyle.PRIMARY),
        *edit,
        Action(gettext("Cancel"), button(Verb.CANCEL, token), ActionStyle.DANGER),
        Action(gettext("Details"), button(Verb.DETAILS, token), needs_forms=True),
    )


def _lines(approval: NewApproval) -> list[str]:
    lines = [f"**{labelled(approval.code, literal(approval.summary))}**", ""]
    if approval.note:
        lines += [literal(plain_words(approval.note)), ""]
    lines += [as_markdown(approval.rendered)]
    if approval.changed:
        lines += [gettext("Changed, as you asked:"), as_markdown([_halves(change) for change in approval.changed])]
    if approval.also:
        who = literal(plain_words(approval.also.who.name))
        lines += [gettext("Needs {who}'s yes, too: it is done only if you both agree.", who=who), ""]
        if approval.also.who.waits:
            lines += [gettext("I will ask {who} when their quiet hours end.", who=who), ""]
    if approval.risk == HIGH:
        lines += [gettext("This is high risk."), ""]
    return lines


def _until_decided(code: str, timeout: timedelta, *, editable: bool) -> str:
    """Return the line about answers and their time from the card on, which holds only while the approval is pending."""
    span = duration_in_words(timedelta(minutes=max(round(timeout.total_seconds() / 60), 1)))
    if not editable:
        return gettext(
            "Reply OK {code} to approve, NO {code} to cancel. It stays open for {span}.", code=code, span=span
        )
    return gettext(
        "Reply OK {code} to approve, NO {code} to cancel, or EDIT {code} with what to change. "
        "It stays open for {span}.",
        code=code,
        span=span,
    )


def _until(code: str, expires: str, *, editable: bool) -> str:
    """Return that line for a request whose time runs already."""
    if not editable:
        return gettext(
            "Reply OK {code} to approve, NO {code} to cancel. It stays open until {expires}.",
            code=code,
            expires=expires,
        )
    return gettext(
        "Reply OK {code} to approve, NO {code} to cancel, or EDIT {code} with what to change. "
        "It stays open until {expires}.",
        code=code,
        expires=expires,
    )


def _halves(change: str) -> tuple[str, str]:
    label, _, rest = change.partition(": ")
    return label[:1].upper() + label[1:], rest
