"""One message out of what was held; pure."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from core.notifications.store import StoredNotification
from core.notifications.types import Notification

CATEGORY = "digest"


def compose(held: Sequence[StoredNotification], zone: ZoneInfo) -> Notification:
    """Put all that was held into one notification, in the order it came, with the times of day of the person."""
    items = "\n".join(_item(kept, zone) for kept in held)
    text = f"{len(held)} things waited for you:\n\n{items}"
    media = tuple(media for kept in held for media in kept.notification.media)
    return Notification(text, CATEGORY, dedupe_key=f"digest:{held[0].id}", title="What waited for you", media=media)


def _item(kept: StoredNotification, zone: ZoneInfo) -> str:
    first, *rest = kept.notification.text.strip().split("\n")
    # Further lines stay inside of the list's item.
    lines = [f"- {kept.at.astimezone(zone):%H:%M}: {first}", *(f"  {line}" if line else "" for line in rest)]
    return "\n".join(lines)
