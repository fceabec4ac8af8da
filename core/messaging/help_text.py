"""What /help says: the words that a person can type, one a line, as each channel has them. Pure."""

OPENING = "Ask me anything, for example “what can you do?”."

_COMMANDS = (
    ("new", "begin afresh: I set aside what was said before"),
    ("stop", "stop what I am doing"),
    ("pending", "what waits for your decision"),
    ("prefs", "your timezone, language and quiet hours"),
    ("profile", "what I know about you, and how to take it back"),
    ("memory", "what I remember of what you told me"),
    ("link", "use me as the same person on another channel"),
    ("unlink", "part this channel from your others"),
    ("help", "this list"),
)
_BY_CODE = (
    ("OK 7K, NO 7K", "approve or cancel what waits under the code 7K"),
    ("EDIT 7K make it 3pm", "change it before you approve it"),
    ("SNOOZE 7K 1h", "be asked again later"),
    ("AGAIN 7K", "be asked again for what has expired"),
    ("UNDO", "take back the reminder that you just set"),
)
_WITH_BUTTONS = (("OK 7K, NO 7K", "the same as the buttons Approve and Cancel of the card 7K"), *_BY_CODE[1:])
_SMS_NAMES = {"stop": "HALT"}
"""STOP is the carrier's word there."""
_SMS_ALONE = (
    ("MORE", "the rest of a long answer"),
    ("STOP", "end all messages from me"),
    ("START", "get messages from me again"),
)


def help_text(channel: str) -> str:
    """Return the list of words; an unknown channel has slashes and no buttons."""
    return "\n".join([OPENING, "", "These words work:", *(f"- {word}: {what}" for word, what in words(channel))])


def words(channel: str) -> tuple[tuple[str, str], ...]:
    """Return each word that works on a channel as a person types it there, with what it does."""
    match channel:
        case "sms":
            named = tuple((_SMS_NAMES.get(name, name.upper()), what) for name, what in _COMMANDS)
            return (*named, *_BY_CODE, *_SMS_ALONE)
        case "slack":
            return (*((f"`/valet {name}`", what) for name, what in _COMMANDS), *_WITH_BUTTONS)
        case "telegram":
            return (*((f"/{name}", what) for name, what in _COMMANDS), *_WITH_BUTTONS)
        case _:
            return (*((f"/{name}", what) for name, what in _COMMANDS), *_BY_CODE)


def where_help_is(channel: str) -> str:
    """Return the sentence that names the word for the list."""
    name = {"sms": "HELP", "slack": "`/valet help`"}.get(channel, "/help")
    return f"{name} lists the words that I know."
