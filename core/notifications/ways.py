"""The channels as a sentence about a notification names them, in the person's language."""

from core.language.catalogue import gettext, gettext_noop

_WAYS = {
    "sms": gettext_noop("by text message"),
    "slack": gettext_noop("on Slack"),
    "telegram": gettext_noop("on Telegram"),
    "email": gettext_noop("by email"),
    "push": gettext_noop("as a push notification"),
    "terminal": gettext_noop("in the terminal"),
}
_PLACES = {
    "sms": gettext_noop("your text messages"),
    "slack": "Slack",
    "telegram": "Telegram",
    "email": gettext_noop("your email"),
    "terminal": gettext_noop("the terminal"),
}


def way_in_words(channel: str) -> str:
    """Return the way to a person in words, such as "by text message" or "on Slack"."""
    known = _WAYS.get(channel)
    return gettext(known) if known else gettext("by {channel}", channel=channel)


def chat_in_words(channel: str) -> str:
    """Return the name of a chat to open, such as "your text messages" or "Slack"."""
    known = _PLACES.get(channel)
    return gettext(known) if known else channel
