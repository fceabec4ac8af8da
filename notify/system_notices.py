"""Notices of the database: it stores the kind of a notice, and the sentence is made when it is sent."""

from enum import StrEnum

from core.language.catalogue import gettext
from core.messaging.visible_text import literal, plain_words, visible
from core.notifications.ways import chat_in_words, way_in_words


class SystemNotice(StrEnum):
    """The notices that SQL functions write."""

    OPTED_OUT = "stopped"
    """The person stopped a channel."""
    BLOCKED = "blocked"
    """A channel can no longer reach the person."""
    APPROVAL = "approval"
    """A card of a task waits in a chat."""
    ANSWERED = "answered"
    """A recipient answered a message on the person's behalf."""
    RECIPIENT_OPTED_OUT = "recipient_stopped"
    """A recipient of a message on the person's behalf wants no more messages."""
    NOT_DELIVERED = "not_delivered"
    """A message to another person did not arrive."""


def notice_title(notice: SystemNotice) -> str:
    return gettext("Your approval is needed") if notice is SystemNotice.APPROVAL else ""


def notice_text(notice: SystemNotice, channel: str, about: str, name: str = "") -> str:
    """Return a notice about a channel in the person's language.

    `about` is the pending approval, as Markdown, a recipient's answer, or the reason of a failure; `name` is the
    recipient's.
    """
    who = literal(plain_words(name))
    match notice:
        case SystemNotice.OPTED_OUT:
            return gettext("You stopped my messages {way}, so I write to you here instead.", way=way_in_words(channel))
        case SystemNotice.BLOCKED:
            return gettext(
                "I can no longer reach you {way}, so I write to you here instead.", way=way_in_words(channel)
            )
        case SystemNotice.APPROVAL:
            place = chat_in_words(channel)
            return gettext("This waits for your approval in {place}: {summary}", place=place, summary=about)
        case SystemNotice.ANSWERED:
            head = gettext("{name} answered {way}:", name=who, way=way_in_words(channel))
            return "\n".join([head, *(f"> {literal(line)}" for line in visible(about).splitlines())])
        case SystemNotice.RECIPIENT_OPTED_OUT:
            return gettext("{name} wants no more messages from me {way}.", name=who, way=way_in_words(channel))
        case SystemNotice.NOT_DELIVERED:
            return _not_delivered(about, who, way_in_words(channel))


def _not_delivered(why: str, name: str, way: str) -> str:
    match why:
        case "stopped":
            return gettext(
                "My message to {name} {way} was not sent: they have asked for no more messages.", name=name, way=way
            )
        case "unpaid":
            return gettext(
                "My message to {name} {way} was not sent: I have sent as many texts as I may today.", name=name, way=way
            )
        case "unknown":
            return gettext("Whether my message to {name} {way} arrived is not known.", name=name, way=way)
    return gettext("My message to {name} {way} did not arrive.", name=name, way=way)
