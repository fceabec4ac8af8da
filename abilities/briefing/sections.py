"""The text of a briefing: its parts as values, and their form in a chat or, shortened, in a text message."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from onevalet import day_in_words, gettext

Part = Literal["weather", "calendar", "mail", "reminders", "waiting"]
PARTS: tuple[Part, ...] = get_args(Part)
"""All parts, in the order in which they are said."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The extent of a part: the number of things in it, and of characters in each."""

    things: int
    characters: int


SHORT = Measure(3, 40)
"""For text messages, which are paid by their length."""
LONG = Measure(8, 100)


@dataclass(frozen=True, slots=True)
class Section:
    """The text of a part. All of it is Markdown.

    `summary` follows the title. `more` counts the omitted things. `problem` is a sentence if some of it, or all, could
    not be read.
    """

    title: str
    summary: str = ""
    things: tuple[str, ...] = ()
    more: int = 0
    problem: str = ""

    @property
    def items(self) -> Sequence[str]:
        """Return the list's items: the things, the number of further things, and the problem."""
        more = gettext("{number} more", number=self.more) if self.more else ""
        return [item for item in (*self.things, more, self.problem) if item]


def briefing_text(day: date, sections: Sequence[Section], *, short: bool) -> str:
    """Return a briefing: with short, a line for each part; otherwise a list under each title."""
    head = gettext("Your briefing for {day}:", day=day_in_words(day))
    if short:
        return "\n".join([head, *(_line(section) for section in sections)])
    return "\n\n".join([head, *(_paragraph(section) for section in sections)])


def _line(section: Section) -> str:
    said = [part for part in (section.summary, *section.items) if part]
    value = said[0] if said else ""
    for part in said[1:]:
        value = gettext("{first}; {next}", first=value, next=part)
    return gettext("{label}: {value}", label=section.title, value=value)


def _paragraph(section: Section) -> str:
    title = f"**{section.title}**"
    alone = not section.things
    value = (
        gettext("{first}; {next}", first=section.summary, next=section.problem)
        if (section.summary and section.problem and alone)
        else section.summary or (section.problem if alone else "")
    )
    head = gettext("{label}: {value}", label=title, value=value) if value else title
    return head if alone else "\n".join([head, *(f"- {item}" for item in section.items)])
