"""The texts of approvals: cards, replies to a decision, and the line on a decided card. Pure."""

from dataclasses import asdict, dataclass

from core.approvals.exact_replies import Verb, button
from core.approvals.rendering import as_markdown
from core.approvals.types import HIGH, NewApproval
from core.json_types import JsonObject
from core.messaging.messages import Action, ActionStyle, OutboundKind, OutboundMessage
from core.messaging.visible_text import literal, plain_words

SAY = {
    "approve": "Approved {code}: {summary}.",
    "cancel": "Cancelled {code}: {summary}.",
    "edit": "Thank you, I am changing {code} and will show it again.",
    "pending": "{code} is still waiting for your decision.",
    "already_approved": "{code} was already approved by {who} at {decided}.",
    "already_cancelled": "{code} was already cancelled by {who} at {decided}.",
    "already_expired": "{code} expired at {decided}, and nothing was done. Reply AGAIN {code} for a fresh card.",
    "expired": "{code} expired at {expires}, and nothing was done. Reply AGAIN {code} for a fresh card.",
    "replaced": "{code} was changed at {decided}: the newer card counts.",
    "over": "{code} is over: the request behind it ended, and nothing was done. Reply AGAIN {code} for a fresh card.",
    "altered": "{code} is not what you were shown any more, so it cannot be approved. "
    "Reply NO {code}, or AGAIN {code} for a fresh card.",
    "not_whole": "I cannot tell whether all of {code} reached you, so it cannot be approved. "
    "Reply AGAIN {code} for a fresh card, or NO {code}.",
    "not_editable": "{code} cannot be changed: approve or cancel it.",
    "not_sent": "I am still sending {code}: please read all of it first.",
    "confirm": "{code} is high risk, and a number can be forged. To approve it, send OK {code} {confirm} "
    "within 10 minutes: {summary}.",
    "wrong": "That number does not fit {code}. Nothing was approved.",
    "too_many": "Too many tries for {code}. It can still be cancelled here, or approved in another chat of yours.",
    "snooze": "I will remind you of {code}; it stays open until {expires}.",
    "too_late": "{code} ends too soon for that: it is open until {expires}.",
    "ask_change": "What should I change about {code}? Reply in your own words.",
    "guessed": "Too many codes that fit nothing came from here, so for an hour codes decide nothing here. "
    "You can decide in another chat of yours, or by a button.",
    "nothing": "Nothing is waiting here that this decides. High risk is decided one by one; PENDING lists what waits.",
    "no_code": "Nothing waits under {code}. PENDING lists what does.",
    "not_yours": "This is not yours to decide.",
    "unknown": "This button no longer works.",
}
"""Replies by outcome. The database fills in the braces, in the decision's transaction."""

NEEDS_CODE = "Please write OK {code} to approve or NO {code} to cancel: {summary}."
"""The reply to a bare OK or NO where only codes count; the outcome `needs_code`."""

DRAW = {
    "approve": "Approved at {when}.",
    "cancel": "Cancelled at {when}.",
    "edit": "To be changed, as you asked at {when}.",
    "expired": "Expired at {when}; nothing was done.",
    "reissued": "Asked again at {when}, since your accounts were linked.",
}
"""The line that every card of an approval shows once it is decided."""

ASKED = "(I asked for your approval {code}: {summary})"
"""How a card appears in the history of later turns."""
REMINDER = "{code} is still waiting for your decision, until {expires}: {summary}. Reply OK {code} or NO {code}."


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
    closing = _closing(approval)
    text = "\n".join([*_lines(approval), closing])
    message = OutboundMessage(outbound_id, OutboundKind.CARD, text, actions=buttons, closing=closing)
    return Card(message, approval)


def actions(token: str, *, editable: bool) -> tuple[Action, ...]:
    edit = (Action("Edit", button(Verb.EDIT, token)),) if editable else ()
    return (
        Action("Approve", button(Verb.APPROVE, token), ActionStyle.PRIMARY),
        *edit,
        Action("Cancel", button(Verb.CANCEL, token), ActionStyle.DANGER),
        Action("Details", button(Verb.DETAILS, token), needs_forms=True),
    )


def _lines(approval: NewApproval) -> list[str]:
    lines = [f"**{approval.code}: {literal(approval.summary)}**", ""]
    if approval.note:
        lines += [literal(plain_words(approval.note)), ""]
    lines += [as_markdown(approval.rendered)]
    if approval.changed:
        lines += ["Changed, as you asked:", as_markdown([_halves(change) for change in approval.changed])]
    if approval.risk == HIGH:
        lines += ["This is high risk.", ""]
    return lines


def _closing(approval: NewApproval) -> str:
    """Return how to answer and until when, which holds only while the approval is pending."""
    code = approval.code
    words = f"Reply OK {code} to approve, NO {code} to cancel"
    words += f", or EDIT {code} with what to change." if approval.editable else "."
    return f"{words} It stays open for {_span(approval.seconds)}."


def _halves(change: str) -> tuple[str, str]:
    label, _, rest = change.partition(": ")
    return label, rest


def _span(seconds: float) -> str:
    hours, minutes = divmod(max(round(seconds / 60), 1), 60)
    parts = [f"{count} {name}{'s' * (count > 1)}" for count, name in ((hours, "hour"), (minutes, "minute")) if count]
    return " and ".join(parts)
