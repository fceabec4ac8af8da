"""docs/words.md, made from the declarations of the chat words: `uv run -m workbench.pages.words` writes it.

It writes Slack's manifest of the app as well, which offers them.
"""

from pathlib import Path

from channels.slack.manifest import MANIFEST, manifest_yaml
from core.messaging.chat_reader import chat_words
from core.messaging.chat_words import ChatCommand
from onevalet.wiring.abilities import use_abilities

PAGE = Path(__file__).parents[2] / "docs" / "words.md"
_HEAD = """# Words

A message that is nothing but one of these words is answered without a model, and costs nothing. `python -m
workbench.pages.words` writes this page from the declarations of the words, and a test compares both.

A word counts in any case and in each of its languages, even with a full stop after it; most count in voice notes. With
a slash (`/new` on Telegram, `/valet new` in Slack) it counts everywhere; without a slash, where the table says. More
words around it make it a sentence for the assistant.

| word | what it is for | counts alone | in HELP | in the menu |
|---|---|---|---|---|
"""
_TAIL = """
What decides an approval is no such word: `OK 7K`, `NO 7K`, `EDIT 7K` and `SNOOZE 7K` ([approvals.md](approvals.md)). By
SMS, STOP and START are the carrier's ([SMS](channels/sms.md)).

More about them: [undo](undo.md), [approvals](approvals.md), [consents](consents.md), [people, preferences and
profile](people.md), [memory](memory.md), [accounts](accounts.md), [the console](console.md),
[programs that ask](mcp.md), [voice notes](files.md#voice-notes), [export and deletion](retention.md).
"""
_NAMES = {"sms": "SMS", "email": "email", "slack": "Slack", "telegram": "Telegram", "terminal": "the terminal"}


def page() -> str:
    """Return the whole page."""
    return _HEAD + "".join(_row(command) for command in chat_words().commands) + _TAIL


def _row(command: ChatCommand) -> str:
    where = command.channels
    cells = (
        f"`{command.example}`" if command.example else ", ".join(f"`{word}`" for word in dict.fromkeys(command)),
        command.help,
        "never" if command.needs_argument else _named([one for one in _NAMES if command.stands_alone(one)]),
        _named([one for one in _NAMES if command.is_listed(one)]),
        _named([one for one in _NAMES if one in where.menu]),
    )
    return f"| {' | '.join(cells)} |\n"


def _named(channels: list[str]) -> str:
    if len(channels) == len(_NAMES):
        return "everywhere"
    return ", ".join(_NAMES[one] for one in channels) or "no"


if __name__ == "__main__":
    use_abilities()
    PAGE.write_text(page(), encoding="utf-8")
    MANIFEST.write_text(manifest_yaml(), encoding="utf-8")
