"""Planning for later: the day, time and zone are read back in words, and the plan is stored when the person agrees."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from abilities.moments.asking_where import ZoneAgent
from abilities.moments.saying_when import moment_said, said_elsewhere, to_the_minute
from core.json_types import object_of
from onevalet import (
    AgentResult,
    AgentStatus,
    ApprovalRequest,
    ToolFailed,
    ToolRetry,
    gettext,
    gettext_noop,
)

_NAMES = (gettext_noop("when"), gettext_noop("now"), gettext_noop("cost"))
"""Names of a plan's details on cards."""
_OPEN_MINUTES = 24 * 60
"""How long the person may take to agree, unless the planned moment comes sooner."""


class PlanningAgent(ZoneAgent):
    """Plan a task: find its time, show it to the person, and store it once they have agreed.

    A subclass defines the plan: `trigger`, `about`, and `keep`. A moment such as "in 20 minutes" is resolved when it is
    read back, not when the person agrees. An agent that need not ask first overrides `asks_first`.
    """

    _cost = ""

    def trigger(self) -> dict[str, Any]:
        """Return the trigger as JSON; raise `ToolRetry` if it makes no sense."""
        raise NotImplementedError

    def about(self) -> str:
        """Return a few words about the plan."""
        raise NotImplementedError

    async def keep(self) -> AgentResult:
        """Store the plan, which the person has seen and agreed to."""
        raise NotImplementedError

    def asks_first(self) -> bool:
        """Return whether the person must agree before the plan is stored."""
        return True

    async def on_running(self, msg: str) -> AgentResult:
        known = await self.context.tasks.timezone()
        # The meaning of "today" in a moment depends on it.
        self.state["zone"] = known
        await self._try()
        if not known and self.trigger_needs_zone():
            return self.ask_where()
        return await self.go_on(known)

    async def on_waiting_for_approval(self, msg: str) -> AgentResult:
        # A moment that the person changed the field to is shown first.
        if self._moment_text() not in (None, *self._moments()):
            return self._read_back(str(self.state.get("zone") or ""))
        if self.state.get("tried") != self.trigger():
            await self._try()
        return await self.keep()

    async def on_asking(self) -> None:
        try:
            trigger = self.trigger()
            self._cost = await self.cost(trigger)
        except (ToolRetry, ToolFailed):
            return  # the card says what is wrong
        if self.state.get("tried") != trigger:
            self.state["seen"] = ""  # by the old one

    def approval_request(self) -> ApprovalRequest:
        request = super().approval_request()
        said: tuple[str, ...] = ()
        try:
            when = self.in_words()
            said = self.said_by(when)
        except (ToolRetry, ToolFailed) as error:
            when = gettext("never: {reason}", reason=error)
        fields = {name: value for name, value in request.details.items() if name not in said}
        cost = {"cost": self._cost} if self._cost else {}
        return replace(
            request,
            action_summary=self.summary(when),
            details={"when": when, **({"now": self.seen()} if self.seen() else {}), **cost, **fields},
            timeout_minutes=self._minutes_open(),
            in_words=said,
        )

    def summary(self, when: str) -> str:
        """Return the plan in a line: the words for its time, and those about it."""
        return f"{self.about()}, {when}"

    def said_by(self, when: str) -> tuple[str, ...]:
        """Return the fields of the trigger that the words for it say in full: a card does not say them once more."""
        return ("cron", "every")

    def trigger_needs_zone(self) -> bool:
        """Return whether the trigger goes by the person's clock."""
        return True

    def in_words(self) -> str:
        """Return the time in words; raise `ToolRetry` if it makes no sense."""
        words = self.context.tasks.describe(self.trigger(), str(self.state.get("zone") or ""))
        return f"{words}; {elsewhere}" if (elsewhere := self._elsewhere()) else words

    def moment(self) -> datetime:
        """Return the moment of `at` as it was read back, with or without an offset; raise `ToolRetry` for none."""
        text = self._moment_text() or ""
        if kept := self._moments().get(text):
            return datetime.fromisoformat(str(kept))
        here = self._here()
        return to_the_minute(moment_said(text, here, self.context.language), here)

    def zone_in_words(self) -> str:
        """Return the person's zone, and the time in the words of another zone if they named it."""
        return "; ".join(filter(None, [str(self.state.get("zone") or ""), self._elsewhere()]))

    def seen(self) -> str:
        """Return the result of trying the trigger, such as a watch's present value; empty for none."""
        return str(self.state.get("seen") or "")

    async def _try(self) -> None:
        """Try the trigger; raise `ToolRetry` if it would never work."""
        tried = self.trigger()
        self.state["seen"] = await self.context.tasks.check(tried)
        self.state["tried"] = tried

    async def cost(self, trigger: dict[str, Any]) -> str:
        """Return the cost of the plan in a few words; empty if it costs nothing, or no price is known."""
        return ""

    async def go_on(self, zone: str | None) -> AgentResult:
        if self.asks_first():
            return self._read_back(zone)
        self.state["zone"] = zone
        return await self.keep()

    def _read_back(self, zone: str | None) -> AgentResult:
        self.state["zone"] = zone
        if text := self._moment_text():
            self.state["moments"] = {**self._moments(), text: self.moment().isoformat()}
        self.in_words()
        # The card has its own words for the question.
        return self.make_result(AgentStatus.WAITING_FOR_APPROVAL)

    def _moments(self) -> Mapping[str, Any]:
        return object_of(self.state.get("moments"))

    def _moment_text(self) -> str | None:
        text = getattr(self, "at", None)
        return text.strip() if isinstance(text, str) else None

    def _elsewhere(self) -> str:
        """Return the time by the clock of another zone that the person named, in their words; empty for none."""
        return said_elsewhere(self._moment_text() or "", self._here(), self.context.language)

    def _here(self) -> datetime:
        return self.context.clock.now().astimezone(self._zone())

    def _now(self) -> datetime:
        return self._here().replace(tzinfo=None)

    def _zone(self) -> ZoneInfo:
        return ZoneInfo(str(self.state.get("zone") or "UTC"))

    def _minutes_open(self) -> int:
        if not self._moment_text():
            return _OPEN_MINUTES
        try:
            moment = self.moment()
        except ToolRetry:
            return _OPEN_MINUTES
        # A moment may name its own offset; any other is a wall time of the person's zone.
        left = (moment if moment.tzinfo else moment.replace(tzinfo=self._zone())) - self.context.clock.now()
        return min(max(left // timedelta(minutes=1), 1), _OPEN_MINUTES)
