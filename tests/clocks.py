"""The clock of tests."""

from datetime import UTC, datetime, timedelta

from core.clock import Clock

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class StandingClock(Clock):
    """A clock that stands still until a test moves it."""

    def __init__(self, at: datetime = NOON) -> None:
        super().__init__()
        self.at = at

    def now(self) -> datetime:
        return self.at

    def move(self, span: timedelta = timedelta(), **more: float) -> None:
        """Let time pass: a span, or one in words, such as `minutes=9`."""
        self.at += span + timedelta(**more)
