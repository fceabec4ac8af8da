"""What the demo model has to know of a language: patterns for what people ask, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

ADDRESS = r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
TO = rf"(?P<to>{ADDRESS})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """How one language asks.

    The groups are those of the English patterns in `english`. `rest`, `origin` and `destination` hold words in any
    order, of which a day or a moment is found by reading it.
    """

    language: str
    words: str
    """Words by which the language is recognised."""
    polite: str
    """What a sentence may begin or end with besides."""
    also: str
    """What joins two requests in one sentence."""
    calls: Mapping[str, tuple[str, ...]]
    """By tool: patterns whose groups are its arguments."""
    weather: tuple[str, ...]
    place: str
    """What may stand before the name of a place."""
    time: tuple[str, ...]
    sums: str
    """A sum, with `ask` for the words that ask for one."""
    numbers: str
    """The words for zero to twelve."""
    signs: tuple[tuple[str, str], ...]
    """Patterns of words in a sum, and what they mean."""
    flights: tuple[str, ...]
    remind: tuple[str, ...]
    about: str
    """What may stand before the words of a reminder."""
    every: tuple[str, ...]
    """What comes again: a word for the days (`often`), or `number` and `unit`; then `rest`."""
    often: Mapping[str, str]
    """Words for the days, besides their names, and what cron calls them."""
    briefing: str
    """A briefing, with the words that ask for one."""
    hour: str
    """What a word for hours begins with; other spans are minutes."""
    remember: str
    known: str
    forget: str
    mail: tuple[str, ...]
    """An email with a text, as `body`, or as `clause` where its words cannot stand alone."""
    results: tuple[str, ...]
    """An email without a text of its own: what was found before in the same message is sent."""
    yes: str
    no: str
    edit: tuple[str, ...]
    make: str
    """A new time for what waits, as `value`."""
    help: str
    hello: str
    thanks: str
    bye: str
    examples: Mapping[str, str]
    """What help shows, by tool."""
    whole: str = "{clause}"
    """The sentence that a `clause` becomes."""
