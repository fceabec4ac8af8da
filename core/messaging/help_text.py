"""The text of /help: the words that a person can type on each channel, a line each. Pure."""

from core.language.catalogue import gettext, gettext_noop
from core.messaging.chat_reader import chat_words
from core.messaging.chat_words import ChatCommand
from core.messaging.help_words import HELP

OPENING = gettext_noop("Ask me anything, for example “what can you do?”.")

_BY_WORD = ("OK 7K, NO 7K", gettext_noop("approve or cancel what waits under the code 7K"))
_BY_CODE = (
    (gettext_noop("EDIT 7K make it 3pm"), gettext_noop("change it before you approve it")),
    ("SNOOZE 7K 1h", gettext_noop("be asked again later")),
)
"""The words that decide, which are no commands (`core.approvals.exact_replies`)."""
_BY_CARRIER = (
    ("STOP", gettext_noop("end all messages from me")),
    ("START", gettext_noop("get messages from me again")),
)
"""The words that the carrier handles in a text message before we see it."""


def help_text(channel: str) -> str:
    """Return the list of words; an unknown channel counts as a channel with slashes and without buttons."""
    listed = (f"- {word}: {what}" for word, what in words(channel))
    return "\n".join([gettext(OPENING), "", gettext("These words work:"), *listed])


def words(channel: str) -> tuple[tuple[str, str], ...]:
    """Return the words of a channel as a person types them there, each with its explanation."""
    listed = [command for command in chat_words().commands if command.is_listed(channel)]
    return (
        *((as_shown(command, channel), gettext(command.help)) for command in listed if not command.example),
        _with_buttons() if channel in ("slack", "telegram") else (_BY_WORD[0], gettext(_BY_WORD[1])),
        *((gettext(word), gettext(what)) for word, what in _BY_CODE),
        *((command.example, gettext(command.help)) for command in listed if command.example),
        *((word, gettext(what)) for word, what in (_BY_CARRIER if channel == "sms" else ())),
    )


def as_typed(command: ChatCommand, channel: str) -> str:
    """Return a command as a person types it on a channel."""
    match channel:
        case "sms" | "email":
            return (command.typed or command.name).upper()
        case "slack":
            return f"/valet {command.name}"
    return f"/{command.name}"


def as_shown(command: ChatCommand, channel: str) -> str:
    """Return a command for a line of text: as code if it contains a blank."""
    typed = as_typed(command, channel)
    return f"`{typed}`" if " " in typed else typed


def where_help_is(channel: str) -> str:
    """Return the sentence that mentions the word for this list."""
    return gettext("{word} lists the words that I know.", word=as_shown(HELP, channel))


def _with_buttons() -> tuple[str, str]:
    approve, cancel = gettext("Approve"), gettext("Cancel")
    same = gettext("the same as the buttons {approve} and {cancel} of the card 7K", approve=approve, cancel=cancel)
    return _BY_WORD[0], same
