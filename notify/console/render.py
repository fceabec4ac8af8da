"""Outbound message -> what the terminal shows: Markdown as it is, buttons as words."""

from core.channel import Part
from core.messages import OutboundMessage


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Give one part; a terminal has no limits."""
    lines = [message.text.strip() or "(nothing)"]
    if message.actions:
        lines.append("  ".join(f"[{action.label}]" for action in message.actions))
    return (Part("\n".join(lines)),)
