"""The card of a request for consent: its text and its buttons. Pure."""

from dataclasses import asdict, dataclass
from datetime import timedelta

from core.approvals.exact_replies import Verb, button
from core.approvals.rendering import as_markdown
from core.approvals.types import HIGH, NewApproval
from core.json_types import JsonObject
from core.language.catalogue import gettext, labelled
from core.language.times import duration_in_words
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
    if approval.risk == HIGH:
        lines += [gettext("This is high risk."), ""]
    return lines


def _closing(approval: NewApproval) -> str:
    """Return how to answer and until when, which holds only while the approval is pending."""
    span = duration_in_words(timedelta(minutes=max(round(approval.seconds / 60), 1)))
    if not approval.editable:
        return gettext(
            "Reply OK {code} to approve, NO {code} to cancel. It stays open for {span}.", code=approval.code, span=span
        )
    return gettext(
        "Reply OK {code} to approve, NO {code} to cancel, or EDIT {code} with what to change. "
        "It stays open for {span}.",
        code=approval.code,
        span=span,
    )


def _halves(change: str) -> tuple[str, str]:
    label, _, rest = change.partition(": ")
    return label[:1].upper() + label[1:], rest
