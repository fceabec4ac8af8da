"""From an outbound message to what the terminal shows: Markdown as it is, buttons as words; pure."""

from core.messaging.channels import Part
from core.messaging.messages import OutboundMessage


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Return one part; a terminal has no limits."""
    lines = [message.text.strip() or "(nothing)"]
    if labels := [action.label for action in message.actions if not action.needs_forms]:
        lines.append("  ".join(f"[{label}]" for label in labels))
    return (Part("\n".join(lines)),)
