"""The table of a language: patterns with places for numbers, and their meanings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

type Part = Literal[
    "morning", "forenoon", "noon", "afternoon", "evening", "night", "late night", "nightly", "small hours", "midnight"
]
"""A part of a day. "late night" is a noun (Nacht, nuit) and follows its day; "nightly" stands with a clock (nachts)."""
type Unit = Literal["seconds", "days", "months"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentWords:
    """A language. In patterns, `<h>`, `<m>`, `<minutes>`, `<past>`, `<to>`, `<d>`, `<mm>`, `<y>` stand for numbers.

    `<half>` stands for am and pm, `<month>` for the name of a month, `<place>` for that of a place.
    """

    clocks: tuple[tuple[str, int], ...]
    """Times of day, and the minutes to add to their numbers."""
    parts: Mapping[str, Part]
    parts_of_today: Mapping[str, Part]
    """Parts that name the present day: "tonight"."""
    days: Mapping[str, int]
    """Words for a day, and how far from today it is."""
    dates: tuple[str, ...]
    weekdays: Mapping[str, int]
    """Names of weekdays that differ from the locale's; Monday is 0."""
    weeks: Mapping[str, int]
    """Words for a week beside a weekday, and its distance from this week."""
    numbers: Mapping[str, int]
    one: str
    """The pattern for 1 before the unit of a span."""
    units: Mapping[str, tuple[Unit, int]]
    spans: Mapping[str, int]
    """Spans that have words of their own, in minutes."""
    more: Mapping[str, int] = field(default_factory=dict[str, int])
    """Words that add minutes to a span of hours: "and a half"."""
    from_now: str
    """The mark of a span that is counted from now."""
    from_day: str = ""
    """The mark of a span that is counted from the day after it."""
    zones: tuple[str, ...]
    """How the name of a place stands for its clock."""
    fillers: str
    """Words that say nothing about a moment."""
    joined: str = ""
    """Parts of a day that are written together with a weekday: "Freitagabend"."""
    short_weekdays: bool = False
    """Whether a shortened weekday needs no dot after it."""
    numbered_weekdays: bool = False
    """Whether a number after a weekday is a clock: "monday 10"."""
    twelve_hours: bool = False
    """Whether "at 9" after nine o'clock means the evening."""
    month_first: bool = False
    """Whether the month comes first in a date with slashes; in English that is ambiguous, so there are none."""
    slashes: bool = True
