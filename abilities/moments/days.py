"""The words of a text about a moment: which there are, the days that they name, and how much time they count."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import cast

from abilities.moments.scan import Kind, Language, Token


class Unread(Exception):
    """Words that are not understood, or do not go together."""

    def __init__(self, *tokens: Token) -> None:
        super().__init__()
        self.words = tuple(token.text for token in tokens)
        self.foreign = sum(len(token.text.replace(" ", "")) for token in tokens if token.kind == "unknown")


class Words:
    """The tokens of a text, said at a moment."""

    def __init__(self, known: Language, tokens: Sequence[Token], now: datetime) -> None:
        self.known = known
        self.tokens = tokens
        self.now = now
        self.wall = now.replace(tzinfo=None)

    def _all(self, *kinds: Kind) -> list[Token]:
        return [token for token in self.tokens if token.kind in kinds]

    def _one(self, *kinds: Kind) -> Token | None:
        """Return the token of these kinds, if any; two that differ do not go together."""
        found = self._all(*kinds)
        if len({token.text for token in found}) > 1:
            raise Unread(*found)
        return found[0] if found else None

    def _amounts(self) -> tuple[int, int, int]:
        """Return the seconds, days and months of a span."""
        seconds = 0.0
        counted = {"days": 0.0, "months": 0.0}
        hourly = False
        for token in self._all("span", "more"):
            if isinstance(token.value, int):
                if token.kind == "more" and not hourly:
                    raise Unread(token)
                seconds += token.value * 60
                continue
            unit, size = cast("tuple[str, int]", token.value)
            numbers = token.numbers or {}
            amount = self._count(numbers["n"]) * size
            hourly = unit == "seconds" and size == 3600
            if unit == "seconds":
                seconds += amount + int(numbers.get("m") or 0) * 60
            else:
                counted[unit] += amount
        if not all(amount.is_integer() for amount in (seconds, *counted.values())):
            raise Unread(*self._all("span", "more"))
        return int(seconds), int(counted["days"]), int(counted["months"])

    def _count(self, text: str) -> float:
        try:
            return float(text.replace(",", "."))
        except ValueError:
            pass
        try:
            return float(self.known.number(text))
        except StopIteration:
            return 1.0  # an article

    def _day(self) -> date | None:
        """Return the named day; a weekday beside a date must be that date's."""
        offset, weekday = self._one("day"), self._one("weekday")
        named, week = self._one("date"), self._one("week")
        if (week and (not weekday or named)) or (offset and (weekday or named)):
            raise Unread(*self._all("day", "weekday", "date", "week"))
        today = self.wall.date()
        if named:
            day = self._date(named)
            if weekday and day.weekday() != weekday.value:
                raise Unread(weekday, named)
            return day
        if weekday:
            number = cast(int, weekday.value)
            if week:
                return today + timedelta(days=number - today.weekday() + 7 * cast(int, week.value))
            return today + timedelta(days=(number - today.weekday()) % 7 or 7)
        return today + timedelta(days=cast(int, offset.value)) if offset else None

    def _date(self, token: Token) -> date:
        numbers = token.numbers or {}
        month = self.known.months[numbers["month"]] if numbers.get("month") else self.known.number(numbers["mm"])
        number = self.known.number(numbers["d"])
        today = self.wall.date()
        year = numbers.get("y")
        # Without a year it is the next such date; the leap day may be eight years off.
        for candidate in [int(year)] if year else range(today.year, today.year + 9):
            try:
                day = date(candidate, month, number)
            except ValueError:
                if (month, number) != (2, 29):
                    break
                continue
            if year or day >= today:
                return day
        raise Unread(token)
