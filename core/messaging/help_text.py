"""What /help says: the words that a person can type, one a line, as each channel has them. Pure."""

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
"""What decides, which is no command (`core.approvals.exact_replies`)."""
_BY_CARRIER = (
    ("STOP", gettext_noop("end all messages from me")),
    ("START", gettext_noop("get messages from me again")),
)
"""What the carrier reads in a text message before we do."""


def help_text(channel: str) -> str:
    """Return the list of words; an unknown channel has slashes and no buttons."""
    listed = (f"- {word}: {what}" for word, what in words(channel))
    return "\n".join([gettext(OPENING), "", gettext("These words work:"), *listed])


def words(channel: str) -> tuple[tuple[str, str], ...]:
    """Return each word that works on a channel as a person types it there, with what it does."""
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
    """Return a command as a line of text shows it: where it has a blank, as code."""
    typed = as_typed(command, channel)
    return f"`{typed}`" if " " in typed else typed


def where_help_is(channel: str) -> str:
    """Return the sentence that names the word for the list."""
    return gettext("{word} lists the words that I know.", word=as_shown(HELP, channel))


def _with_buttons() -> tuple[str, str]:
    approve, cancel = gettext("Approve"), gettext("Cancel")
    same = gettext("the same as the buttons {approve} and {cancel} of the card 7K", approve=approve, cancel=cancel)
    return _BY_WORD[0], same
