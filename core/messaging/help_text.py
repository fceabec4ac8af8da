"""What /help says: the words that a person can type, one a line, as each channel has them. Pure."""

from core.language.catalogue import gettext, gettext_noop

OPENING = gettext_noop("Ask me anything, for example “what can you do?”.")

_COMMANDS = (
    ("new", gettext_noop("begin afresh, without what was said")),
    ("stop", gettext_noop("stop what I am doing")),
    ("undo", gettext_noop("take back what I did last")),
    ("pending", gettext_noop("what waits for your decision")),
    ("consents", gettext_noop("what I do unasked")),
    ("prefs", gettext_noop("your timezone, language and quiet hours")),
    ("profile", gettext_noop("what I know about you, and how to take it back")),
    ("memory", gettext_noop("what I remember of what you told me")),
    ("connect", gettext_noop("connect your mail, calendar or contacts")),
    ("accounts", gettext_noop("what is connected, and how to end it")),
    ("console", gettext_noop("all that I did")),
    ("link", gettext_noop("use me as the same person on another channel")),
    ("unlink", gettext_noop("part this channel from your others")),
    ("help", gettext_noop("this list")),
)
COMMAND_NAMES = tuple(name for name, _ in _COMMANDS)
_BY_WORD = ("OK 7K, NO 7K", gettext_noop("approve or cancel what waits under the code 7K"))
_BY_CODE = (
    (gettext_noop("EDIT 7K make it 3pm"), gettext_noop("change it before you approve it")),
    ("SNOOZE 7K 1h", gettext_noop("be asked again later")),
    ("AGAIN 7K", gettext_noop("be asked again for what has expired")),
)
_WORD_NAMES = {"stop": "HALT"}
"""STOP is the carrier's word on SMS."""
_NOT_BY_SMS = frozenset({"consents"})
"""What works there too, but for which the list has no room: a consent's own messages name its words."""
_SMS_ALONE = (
    ("MORE", gettext_noop("the rest of a long answer")),
    ("STOP", gettext_noop("end all messages from me")),
    ("START", gettext_noop("get messages from me again")),
)


def help_text(channel: str) -> str:
    """Return the list of words; an unknown channel has slashes and no buttons."""
    listed = (f"- {word}: {what}" for word, what in words(channel))
    return "\n".join([gettext(OPENING), "", gettext("These words work:"), *listed])


def words(channel: str) -> tuple[tuple[str, str], ...]:
    """Return each word that works on a channel as a person types it there, with what it does."""
    match channel:
        case "sms" | "email":
            left_out = _NOT_BY_SMS if channel == "sms" else frozenset[str]()
            named = {name: _WORD_NAMES.get(name, name.upper()) for name, _ in _COMMANDS if name not in left_out}
        case "slack":
            named = {name: f"`/valet {name}`" for name, _ in _COMMANDS}
        case _:
            named = {name: f"/{name}" for name, _ in _COMMANDS}
    return (
        *((named[name], gettext(what)) for name, what in _COMMANDS if name in named),
        _with_buttons() if channel in ("slack", "telegram") else (_BY_WORD[0], gettext(_BY_WORD[1])),
        *((gettext(word), gettext(what)) for word, what in _BY_CODE),
        *((word, gettext(what)) for word, what in (_SMS_ALONE if channel == "sms" else ())),
    )


def _with_buttons() -> tuple[str, str]:
    approve, cancel = gettext("Approve"), gettext("Cancel")
    same = gettext("the same as the buttons {approve} and {cancel} of the card 7K", approve=approve, cancel=cancel)
    return _BY_WORD[0], same


def where_help_is(channel: str) -> str:
    """Return the sentence that names the word for the list."""
    name = {"sms": "HELP", "email": "HELP", "slack": "`/valet help`"}.get(channel, "/help")
    return gettext("{word} lists the words that I know.", word=name)
