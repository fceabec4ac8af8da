"""An approval for its page: the card as it was sent, and its outcome."""

from dataclasses import dataclass
from datetime import datetime

from core.approvals.rendering import as_markdown
from core.approvals.types import HIGH, Approval, ApprovalState
from core.db.database import Connection
from core.json_types import JsonObject
from core.messaging.visible_text import literal

_CARD = (
    "select o.text, o.closing, c.channel from approval_cards k"
    " join outbound o on o.tenant_id = k.tenant_id and o.id = k.outbound_id"
    " join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
    " where k.tenant_id = $1 and k.approval_id = $2 and k.role = 'card' order by o.created_at, o.id"
)
_AUDIT = "select at, what, channel, how from approval_audit where tenant_id = $1 and approval_id = $2 order by id"


@dataclass(frozen=True, slots=True)
class AuditLine:
    """An event of an approval."""

    at: datetime
    what: str
    by: str


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """The page's data. `card` is Markdown, without the instructions for a chat; `channels` are those with a card."""

    approval: Approval
    tenant_id: str
    person: str
    language: str
    card: str
    channels: tuple[str, ...]
    audit: tuple[AuditLine, ...]

    @property
    def is_pending(self) -> bool:
        return self.approval.state is ApprovalState.PENDING

    def is_open(self, now: datetime) -> bool:
        """Return whether it may still be decided. A card that is not sent yet has no end."""
        return self.is_pending and (self.approval.expires_at is None or self.approval.expires_at > now)

    @property
    def high_risk(self) -> bool:
        return self.approval.risk == HIGH


async def read_approval(connection: Connection, tenant_id: str, approval: Approval) -> ApprovalView:
    """Return an approval with its cards, its person and its audit."""
    person = await connection.fetchrow("select name, language from tenants where tenant_id = $1", tenant_id)
    cards = await connection.fetch(_CARD, tenant_id, approval.id)
    audit = await connection.fetch(_AUDIT, tenant_id, approval.id)
    return ApprovalView(
        approval,
        tenant_id,
        person["name"] if person else "",
        person["language"] if person else "",
        _shown(cards[0]["text"], cards[0]["closing"]) if cards and cards[0]["text"] else _again(approval),
        tuple(dict.fromkeys(card["channel"] for card in cards)),
        tuple(AuditLine(row["at"], row["what"], _by(row["channel"], row["how"])) for row in audit),
    )


def _shown(text: str, closing: str) -> str:
    """Return a card's text without its end, which says how to answer in a chat."""
    return text.removesuffix(closing).rstrip() if closing else text


def _again(approval: Approval) -> str:
    """Return a card's text for an approval whose text is no longer stored."""
    return f"**{literal(approval.summary)}**\n\n{as_markdown(approval.rendered)}"


def _by(channel: str, how: str) -> str:
    """Return the channel and means of an event, without the id of the form or message that decided."""
    words = [word for word in how.split() if "_" not in word]
    return " ".join(dict.fromkeys([channel, *words])).strip()


def changes_of(view: ApprovalView, fields: JsonObject) -> JsonObject:
    """Return the form's values for the approval's own fields; other values are left out."""
    names = {field.name for field in view.approval.form}
    return {name: value for name, value in fields.items() if name in names}
