"""The bot's self-description in each language; `channels setup` sends it. Pure.

Limits: core.telegram.org/bots/api#botcommand, #setmydescription, #setmyshortdescription.
"""

from dataclasses import dataclass

from core.language.catalogue import LANGUAGES, gettext, gettext_noop, speaking
from core.messaging.chat_reader import chat_words
from core.messaging.chat_words import ChatCommand

DESCRIPTION = gettext_noop(
    "Your personal assistant. Press Start, then write to me in your own words, or send a voice note, a photo or a file."
)
"""Shown in an empty chat, before the person presses Start; at most 512 characters."""
SHORT_DESCRIPTION = gettext_noop("Your personal assistant, by chat.")
"""Shown on the profile and when the bot is shared; at most 120 characters."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The bot's menu and descriptions in a language: `commands` are (name, description).

    Names are 1 to 32 of a-z, 0-9 and _; descriptions at most 256 characters.

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
            tuple((command.name, _described(command)) for command in chat_words().in_menu("telegram")),
            gettext(DESCRIPTION),
            gettext(SHORT_DESCRIPTION),
        )


def _described(command: ChatCommand) -> str:
    line = gettext(command.help)
    return line[:1].upper() + line[1:]
