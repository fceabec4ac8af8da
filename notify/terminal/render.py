"""From an outbound message to the terminal's output: plain text, with buttons as words; pure."""

from core.messaging.channels import Part
from core.messaging.messages import OutboundMessage
from notify.no_text import no_text
from notify.plain_markdown import to_plain, without_controls


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Return a single part; a terminal has no limits."""
    source = without_controls(message.text)
    lines = [to_plain(source) or source.strip() or no_text()]
    if labels := [action.label for action in message.actions if not action.needs_forms]:
        lines.append("  ".join(f"[{label}]" for label in labels))
    return (Part("\n".join(lines)),)
