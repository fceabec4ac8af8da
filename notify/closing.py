"""The closing of a card in its last part, which a redraw leaves out; pure."""

from core.messaging.channels import Part


def without_closing(part: Part) -> str:
    """Return a part's text without the closing that its `data` names."""
    closing = part.data.get("closing")
    return part.text.removesuffix(closing).rstrip() if isinstance(closing, str) else part.text
