"""The demo model's knowledge of a language: patterns for people's requests, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

ADDRESS = r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
TO = rf"(?P<to>{ADDRESS})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """Requests in a language.

    The groups are those of the English patterns in `english`. `rest`, `origin` and `destination` hold words in any
    order, in which a day or a moment is found by reading them.
    """

    language: str
    words: str
    """Words by which the language is recognised."""
    polite: str
    """Polite words at the beginning or end of a sentence."""
    also: str
    """Words between two requests in a sentence."""
    calls: Mapping[str, tuple[str, ...]]
    """By tool: patterns whose groups are its arguments."""
    weather: tuple[str, ...]
    place: str
    """Words before the name of a place."""
    time: tuple[str, ...]
    sums: str
    """A sum, with `ask` for the words of the request."""
    numbers: str
    """The words for zero to twelve."""
    signs: tuple[tuple[str, str], ...]
    """Patterns of words in a sum, and their meanings."""
    flights: tuple[str, ...]
    remind: tuple[str, ...]
    about: str
    """Words before the text of a reminder."""
    every: tuple[str, ...]
    """Repeated times: a word for the days (`often`), or `number` and `unit`; then `rest`."""
    often: Mapping[str, str]
    """Words for the days, besides their names, and their form in cron."""
    briefing: str
    """A briefing, with the words of the request."""
    hour: str
    """The beginning of a word for hours; other spans are minutes."""
    remember: str
    known: str
    forget: str
    mail: tuple[str, ...]
    """An email with a text, as `body`, or as `clause` if its words cannot stand alone."""
    results: tuple[str, ...]
    """An email without a text of its own: the earlier results in the same message are sent."""
    yes: str
    no: str
    edit: tuple[str, ...]
    make: str
    """A new time for a pending action, as `value`."""
    help: str
    hello: str
    thanks: str
    bye: str
    examples: Mapping[str, str]
    """Examples in the help, by tool."""
    whole: str = "{clause}"
    """The sentence that a `clause` becomes."""
