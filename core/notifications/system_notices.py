"""What the database has to say by itself: it stores which notice it is, and the sentence is made when that goes out."""

from enum import StrEnum

from core.language.catalogue import gettext
from core.notifications.ways import chat_in_words, way_in_words


class SystemNotice(StrEnum):
    """The notices that SQL functions write."""

    STOPPED = "stopped"
    """The person stopped a channel."""
    BLOCKED = "blocked"
    """A channel can no longer reach the person."""
    APPROVAL = "approval"
    """A card of a task waits in a chat."""


def notice_title(notice: SystemNotice) -> str:
    return gettext("Your approval is needed") if notice is SystemNotice.APPROVAL else ""


def notice_text(notice: SystemNotice, channel: str, about: str) -> str:
    """Return a notice about a channel in the person's language; `about` is what waits for approval, as Markdown."""
    match notice:
        case SystemNotice.STOPPED:
            return gettext("You stopped my messages {way}, so I write to you here instead.", way=way_in_words(channel))
        case SystemNotice.BLOCKED:
            return gettext(
                "I can't reach you any more {way}, so I write to you here instead.", way=way_in_words(channel)
            )
        case SystemNotice.APPROVAL:
            place = chat_in_words(channel)
            return gettext("This waits for your approval in {place}: {summary}", place=place, summary=about)
