"""Remind the person some days before a date: once ("three days before the flight"), or each year (birthdays)."""

import re
from datetime import date, datetime, time, timedelta
from typing import Any

from abilities.moments.planning import PlanningAgent
from abilities.moments.saying_when import clock_said, day_said
from abilities.tasks.group import GROUP
from abilities.tasks.reminders import is_short, offer_undo
from onevalet import (
    AgentResult,
    InputField,
    ToolRetry,
    day_in_words,
    day_of_year_in_words,
    gettext,
    gettext_noop,
    ngettext,
    undo_word,
    valet,
)

_MAX_DAYS = 366
_GRACE_MINUTES = 24 * 60
_YEARLY = re.compile(r"(?:--|\d{4}-)?(\d{1,2})-(\d{1,2})")
_LEAP_DAY = (2, 29)
_LEAP_YEAR = 2028
_NAMES = (
    gettext_noop("text"),
    gettext_noop("day"),
    gettext_noop("days before"),
    gettext_noop("yearly"),
    gettext_noop("clock"),
    gettext_noop("remind before"),
)
"""The names of the fields and the agent on cards and in questions."""
_ONCE = gettext_noop(
    "I will remind you on {moment} ({zone}), {lead} {date}: {text}. It is task {number}; to take it back, write "
    "“{word}”."
)
_EACH_YEAR = gettext_noop(
    "I will remind you each year, {lead} {date}: {text}. The next time is {moment} ({zone}). It is task {number}; to "
    "take it back, write “{word}”."
)


@valet(name="remind_before", effect="idempotent", group=GROUP)
class RemindBefore(PlanningAgent):
    """Remind the person some days before a date, or each year on or before it: a birthday, a flight, a deadline.

    It is set at once. Tell them both dates, and that "undo" takes it back.
    """

    text = InputField(
        gettext_noop("What is that day?"),
        description='What the day is, as they should read it: "Mum\'s birthday", "the flight to Rome"',
        validator=is_short,
        validator_description=gettext_noop("1 to 1000 characters"),
    )
    day = InputField(
        gettext_noop("On which day is it?"),
        description='The day itself, not that of the reminder: 2027-03-04, or as they said it ("next Friday"). Of each '
        "year: 03-04, also 02-29",
    )
    days_before = InputField(
        gettext_noop("How many days before shall I remind you?"),
        description="How many days before it: 7 for a week, 0 for the day itself",
        type=int,
        validator=lambda days: 0 <= days <= _MAX_DAYS,
        validator_description=gettext_noop("from 0 to 366"),
    )
    yearly = InputField(
        "", description="Each year again: birthdays, anniversaries", required=False, default=False, type=bool
    )
    clock = InputField("", description="The time of day: 09:00 unless they say otherwise", required=False, default="")

    def trigger(self) -> dict[str, Any]:
        at = self._clock()
        if self.yearly:
            month, day = self._day_of_year()
            # The last day of February is the 29th if there is any.
            shown = "L" if (month, day) == _LEAP_DAY else str(day)
            cron = f"{at.minute} {at.hour} {shown} {month} *"
            lead = {"days_before": self.days_before, "grace_minutes": _GRACE_MINUTES}
            return {"kind": "schedule", "cron": cron, **lead}
        moment = datetime.combine(self._day() - timedelta(days=self.days_before), at)
        if moment <= self._now():
            raise ToolRetry(
                gettext("{moment} is over already.", moment=f"{self._lead()} {day_in_words(self._day())}"),
                note="Ask when to remind them instead.",
            )
        return {"kind": "schedule", "at": moment.isoformat()}

    def about(self) -> str:
        return gettext("Remind you: {text}", text=self._told())

    def asks_first(self) -> bool:
        return self.context.in_task

    async def keep(self) -> AgentResult:
        told = self._told()
        kept = await self.context.tasks.create(
            self.trigger(),
            {"text": told},
            executor="tell",
            output={"category": "reminder", "urgency": "urgent"},
            title=told,
            key=self.context.idempotency_key,
        )
        offer_undo(self.context, kept)
        sentence = gettext(_EACH_YEAR if self.yearly else _ONCE)
        return self.make_result(
            raw_message=sentence.format(
                moment=kept.next_at,
                zone=self.state.get("zone"),
                lead=self._lead(),
                date=self._date_in_words(),
                text=self._words(),
                number=kept.number,
                word=undo_word(),
            )
        )

    def _told(self) -> str:
        return gettext("{text}, on {date}", text=self._words(), date=self._date_in_words())

    def _words(self) -> str:
        return " ".join(str(self.text).split())

    def _lead(self) -> str:
        """Return the lead time in words, ready for a date to follow."""
        days = int(self.days_before)
        if not days:
            return gettext("on")
        if days % 7 == 0:
            return ngettext("{number} week before", "{number} weeks before", days // 7)
        return ngettext("{number} day before", "{number} days before", days)

    def _date_in_words(self) -> str:
        return day_of_year_in_words(*self._day_of_year()) if self.yearly else day_in_words(self._day())

    def _clock(self) -> time:
        return clock_said(str(self.clock), self._here(), self.context.language) if self.clock else time(9)

    def _day_of_year(self) -> tuple[int, int]:
        if match := _YEARLY.fullmatch(str(self.day).strip()):
            month, number = int(match[1]), int(match[2])
            try:
                date(_LEAP_YEAR, month, number)
            except ValueError as error:
                raise self._unreadable() from error
            return month, number
        day = self._day()
        return day.month, day.day

    def _day(self) -> date:
        try:
            return date.fromisoformat(str(self.day).strip())
        except ValueError:
            return day_said(str(self.day), self._here(), self.context.language)

    def _unreadable(self) -> ToolRetry:
        return ToolRetry(gettext("I cannot tell when “{text}” is.", text=self.day), note="Give it as 2027-01-31.")
