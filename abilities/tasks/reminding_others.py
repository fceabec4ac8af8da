"""Remind another member of the household, once the person asks and the other allows it."""

from datetime import UTC, datetime
from typing import Any

from abilities.moments.planning import PlanningAgent
from abilities.tasks.for_others import RemindersForOthers
from abilities.tasks.reminders import is_short
from core.json_types import JsonObject
from core.language.times import moment_in_words
from core.tools.sharing import Companion, SharedHome, sharing_among
from onevalet import (
    AgentResult,
    InputField,
    ToolExecutionContext,
    ToolFailed,
    ToolGroup,
    ToolRetry,
    gettext,
    gettext_noop,
    tool,
    valet,
)

_GROUP = ToolGroup("others", gettext_noop("household"))
"""People who share nothing do not need it; "remind" would open it for everybody's own reminders."""
_NAMES = (gettext_noop("who"), gettext_noop("remind other"))
"""The names of a field and the agent on cards and in questions."""


@valet(name="remind_other", effect="idempotent", group=_GROUP)
class RemindOther(PlanningAgent):
    """Remind somebody of the person's household once: "remind Ben at six to buy bread".

    The other person is asked once for permission, and sees who set the reminder.
    """

    who = InputField(gettext_noop("Whom shall I remind?"), description="Their name, as the person calls them")
    text = InputField(
        gettext_noop("What shall I remind them of?"),
        description='As they should read it: "buy bread"',
        validator=is_short,
        validator_description=gettext_noop("1 to 1000 characters"),
    )
    at = InputField(
        gettext_noop("When shall I remind them?"),
        description='In the person\'s own time: 2027-01-31T15:00, or as they said it ("3pm", "in 20 minutes")',
    )

    def trigger(self) -> dict[str, Any]:
        return {"kind": "schedule", "at": self.moment().isoformat()}

    def about(self) -> str:
        return gettext("Remind {who}: {text}", who=self.who, text=self._words)

    def asks_first(self) -> bool:
        # A task's run may read words by anybody.
        return self.context.in_task

    async def keep(self) -> AgentResult:
        (home, other), at = await self._meant(), self._moment_at()
        name = home.own_name or gettext("Somebody of your household")
        reminders = self.context.service(RemindersForOthers)
        state = await reminders.wish(other.id, self.context.idempotency_key, name, self._words, at)
        moment = moment_in_words(at, self._zone())
        if state == "limited":
            raise ToolFailed(
                gettext("There were too many reminders for {who} today; try again tomorrow.", who=self.who)
            )
        if state == "refused":
            raise ToolFailed(gettext("{who} wants no reminders from you.", who=self.who))
        undo: JsonObject = {"other": other.id, "key": self.context.idempotency_key}
        self.context.undo.offer(self.about(), take_back_reminder_for.name, undo)
        sentence = (
            gettext("I will remind {who} on {moment}: {text}. I will tell them that you set it.")
            if state == "allowed"
            else gettext(
                "I will ask {who} whether you may; if so, I will remind them on {moment}: {text}. I will tell you then."
            )
        )
        return self.make_result(raw_message=sentence.format(who=self.who, moment=moment, text=self._words))

    async def _meant(self) -> tuple[SharedHome, Companion]:
        """Return whom the person means, with their household; raise for nobody, or for several."""
        sharing = sharing_among(self.context.services)
        home = await sharing.home() if sharing else None
        if home is None:
            raise ToolFailed(gettext("I set reminders only for people in a household with you."))
        wanted = " ".join(str(self.who).casefold().split())
        found = [one for one in home.others if one.name.casefold() == wanted]
        found = found or [one for one in home.others if wanted and wanted in one.name.casefold().split()]
        if len(found) != 1:
            raise ToolRetry(gettext("“{name}” does not name exactly one person of your household.", name=self.who))
        return home, found[0]

    def _moment_at(self) -> datetime:
        at = self.moment()
        at = (at if at.tzinfo else at.replace(tzinfo=self._zone())).astimezone(UTC)
        if at <= self.context.clock.now():
            raise ToolRetry(gettext("That is over already: it would never come."))
        return at

    @property
    def _words(self) -> str:
        return " ".join(str(self.text).split())


@tool(name="take_back_reminder_for", effect="idempotent", inverse=True)
async def take_back_reminder_for(other: str, key: str, context: ToolExecutionContext) -> str:
    """Take back a reminder for somebody else.

    Args:
        other: Whom it reminds.
        key: Its key.
    """
    if not await context.service(RemindersForOthers).take_back(other, key):
        raise ToolFailed(gettext("It has rung already, or was not set."))
    return gettext("Undone: I will not remind them.")
