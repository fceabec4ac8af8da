"""The card of a request for consent: its text and its buttons. Pure."""

from dataclasses import asdict, dataclass

from core.approvals.exact_replies import Verb, button
from core.approvals.rendering import as_markdown
from core.approvals.types import HIGH, NewApproval
from core.json_types import JsonObject
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
