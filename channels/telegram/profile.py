"""What the bot says of itself in each language; `channels setup` sends it. Pure.

Limits: core.telegram.org/bots/api#botcommand, #setmydescription, #setmyshortdescription.
"""

from dataclasses import dataclass

from core.language.catalogue import LANGUAGES, gettext, gettext_noop, speaking

DESCRIPTION = gettext_noop(
    "Your personal assistant. Press Start, then write to me in your own words, or send a voice note, a photo or a file."
)
"""Shown in an empty chat, before the person presses Start; at most 512 characters."""
SHORT_DESCRIPTION = gettext_noop("Your personal assistant, by chat.")
"""Shown on the profile and when the bot is shared; at most 120 characters."""
COMMANDS = (
    ("start", gettext_noop("Say hello")),
    ("help", gettext_noop("What I can do, and the words I know")),
    ("new", gettext_noop("Begin afresh: set what was said before aside")),
    ("stop", gettext_noop("Stop what I am doing")),
    ("undo", gettext_noop("Take back what I did last")),
    ("link", gettext_noop("Link another place to this one, or type its code")),
    ("unlink", gettext_noop("Let this place stand on its own again")),
    ("pending", gettext_noop("What waits for your decision")),
    ("consents", gettext_noop("What I do without asking you")),
    ("connect", gettext_noop("Connect your mail, calendar or contacts")),
    ("accounts", gettext_noop("What is connected, and how to end it")),
    ("console", gettext_noop("See in your browser what I did, and what it cost")),
    ("prefs", gettext_noop("What you prefer: timezone, language, quiet hours")),
    ("profile", gettext_noop("What I know about you, and how to take it back")),
    ("memory", gettext_noop("What I remember of what you told me")),
)
"""The menu. Names are 1 to 32 of a-z, 0-9 and _; descriptions at most 256 characters."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The bot's menu and descriptions in one language: `commands` are (name, description).

    `language` is Telegram's two-letter code; empty for people of all languages that have no profile of their own.
    """

    language: str
    commands: tuple[tuple[str, str], ...]
    description: str
    short_description: str


def profiles() -> tuple[Profile, ...]:
    """Return the profile in every language, in English for the others."""
    return tuple(profile_in(language) for language in LANGUAGES)


def profile_in(language: str) -> Profile:
    with speaking(language):
        return Profile(
            "" if language == "en" else language,
            tuple((name, gettext(words)) for name, words in COMMANDS),
            gettext(DESCRIPTION),
            gettext(SHORT_DESCRIPTION),
        )
