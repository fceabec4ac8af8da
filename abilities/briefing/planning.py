"""The briefing planned, changed and taken back, by people's words in a chat."""

import re
from collections.abc import Mapping, Sequence
from datetime import time
from typing import Any

from abilities.briefing.days import days_of, read_days
from abilities.briefing.group import GROUP
from abilities.briefing.parts import BRIEFING
from abilities.briefing.sections import PARTS, Part
from abilities.briefing.settings import BriefingSettings
from abilities.moments.places import city_of
from abilities.moments.planning import PlanningAgent
from abilities.moments.saying_when import clock_said
from core.notifications.ways import way_in_words
from core.tools.call_plans import plan_once
from onevalet import (
    Ability,
    AgentResult,
    InputField,
    TaskNote,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    gettext,
    gettext_noop,
    listed,
    tool,
    undo_word,
    valet,
)

_SEVEN = time(7)
_CRON = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\S+)")
_PLAIN = re.compile(r"([01]?\d|2[0-3])(?:[:.]([0-5]\d))?")
_NEEDS: Mapping[Part, str] = {"calendar": Ability.CALENDAR_READ.value, "mail": Ability.MAIL_READ.value}
_NAMES = (
    gettext_noop("clock"),
    gettext_noop("days"),
    gettext_noop("without"),
    gettext_noop("place"),
    gettext_noop("channel"),
    gettext_noop("set briefing"),
)
"""Names of the fields and the agent on cards and in questions."""
_SET = gettext_noop(
    "Your briefing comes {when}. It contains: {parts}. The next one is on {moment}. It is task {number}; to take it "
    "back, write “{word}”."
)
_SET_IN_QUIET = gettext_noop(
    "Your briefing comes {when}. It contains: {parts}. The next one is on {moment}. That is in your quiet hours: it "
    "comes when they end. It is task {number}; to take it back, write “{word}”."
)
_CHANGED = gettext_noop("From now on your briefing contains: {parts}. To take that back, write “{word}”.")


def _leaves_some(without: Sequence[Part]) -> bool:
    return len(set(without)) < len(PARTS)


@valet(name="set_briefing", effect="idempotent", group=GROUP)
class SetBriefing(PlanningAgent):
    """Send the person a briefing again and again: weather, calendar, unread mail, reminders, what waits for them.

    Also to change when it comes or what is in it: leave out what stays as it is. It is set at once; tell them when it
    comes and that "undo" takes it back. stop_task ends it, brief_me tells it now.
    """

    clock = InputField("", description="The time of day: 07:30. The usual one is 07:00", required=False, default="")
    days = InputField(
        "", description="every day, weekdays, weekends, or days such as mon,thu", required=False, default=""
    )
    without = InputField(
        "",
        description="All parts that are left out from now on; an empty list leaves nothing out",
        required=False,
        type=list[Part],
        validator=_leaves_some,
        validator_description=gettext_noop("at least one part has to stay"),
    )
    place = InputField("", description="The city for the weather, if they named one", required=False, default="")
    channel = InputField("", description="sms, slack or telegram, if they named one", required=False, default="")

    async def on_running(self, msg: str) -> AgentResult:
        self.state["crons"] = [str(task.trigger.get("cron")) for task in await briefings(self.context)]
        return await super().on_running(msg)

    def trigger(self) -> dict[str, Any]:
        crons = self.state.get("crons")
        old = [found for cron in (crons if isinstance(crons, list) else []) if (found := _CRON.fullmatch(str(cron)))]
        if self.clock and not self.days and len(old) > 1:
            raise ToolRetry(gettext("On which days?"), note="There are several briefings: list_tasks has them.")
        days = read_days(str(self.days)) if self.days else old[0][3] if old else "*"
        at = self._clock() if self.clock else time(int(old[0][2]), int(old[0][1])) if old else _SEVEN
        return {"kind": "schedule", "cron": f"{at.minute} {at.hour} * * {days}"}

    def about(self) -> str:
        return gettext("Briefing")

    def asks_first(self) -> bool:
        # It only reads, and only for the person. The texts that a task's run has read may be a third party's.
        return self.context.in_task

    async def keep(self) -> AgentResult:
        context = self.context

        async def plan() -> dict[str, Any]:
            there = [task.id for task in await briefings(context)]
            return {"old": there, "settled": (await BriefingSettings.of(context)).to_json()}

        planned = await plan_once(context, plan)
        old = [task for id in planned["old"] if (task := await context.tasks.find(id))]
        before = BriefingSettings.from_json(planned["settled"])
        settled = before.changed(self.without, str(self.place), str(self.channel))
        anew = not old or bool(self.clock or self.days or self.channel)
        kept = await _create(context, self.trigger(), settled, context.idempotency_key) if anew else old[0]
        ended = await _end(context, kept, old) if anew else []
        lacking = await _lacking(context, settled)
        new = [part for part in lacking if part not in before.known(context.idempotency_key)]
        await settled.noting(lacking, context.idempotency_key).keep(context)
        arguments: dict[str, Any] = {"task": kept.id if anew else "", "again": ended, "settled": before.to_json()}
        context.undo.offer(gettext("Briefing: {when}", when=kept.when), take_back_briefing.name, arguments)
        sentence = gettext((_SET_IN_QUIET if kept.quiet else _SET) if anew else _CHANGED)
        said = sentence.format(
            when=kept.when, parts=self._parts(settled), moment=kept.next_at, number=kept.number, word=undo_word()
        )
        if anew and settled.channel:
            said = f"{said} {gettext('You get it {way}.', way=way_in_words(settled.channel))}"
        return self.make_result(raw_message="\n".join([said, *await _connecting(context, new)]))

    def _parts(self, settled: BriefingSettings) -> str:
        place = settled.place or city_of(str(self.state.get("zone") or ""))
        return listed([name for part, name in _names(place).items() if part not in settled.without])

    def _clock(self) -> time:
        # "At 6" is six in the morning here, and not the next six o'clock, as for a reminder.
        if plain := _PLAIN.fullmatch(str(self.clock).strip()):
            return time(int(plain[1]), int(plain[2] or 0))
        return clock_said(str(self.clock), self._here(), self.context.language)


@tool(name="take_back_briefing", effect="idempotent", inverse=True)
async def take_back_briefing(
    task: str, again: list[dict[str, Any]], settled: dict[str, Any], context: ToolExecutionContext
) -> str:
    """Take back a change of the briefing.

    Args:
        task: The id of the task that was planned, if any.
        again: The triggers of those that it replaced.
        settled: The earlier settings.
    """
    made = await _still_there(context, task, again) if task else None
    before = BriefingSettings.from_json(settled)
    for number, trigger in enumerate(again):
        await _create(context, trigger, before, f"{context.idempotency_key}.{number}")
    await before.keep(context)
    if made is not None and not made.deleted:
        await context.tasks.change(made.id, "delete")
    if made is not None and not again:
        return gettext("Undone: I will not send you briefings.")
    return gettext("Undone: your briefing is as it was before.")


async def briefings(context: ToolExecutionContext) -> Sequence[TaskNote]:
    """Return the tasks that send the person's briefing: a single task, or several that share the days of the week."""
    return [task for task in await context.tasks.list() if task.executor == BRIEFING]


async def _still_there(context: ToolExecutionContext, made: str, again: Sequence[dict[str, Any]]) -> TaskNote:
    """Return the briefing that is to be taken back, or that this call has taken back already. Raises `ToolFailed`."""
    task, there = await context.tasks.find(made), await briefings(context)
    if task is not None and task.deleted:
        # An undo of a later change has restored it as another task.
        task = next((one for one in there if one.trigger == task.trigger), task)
    if task is None or (task.deleted and [one.trigger for one in there if _days(one) & _days(task)] != again):
        raise ToolFailed(gettext("The briefing has been changed since."))
    return task


def _days(task: TaskNote) -> frozenset[int]:
    return days_of(str(task.trigger.get("cron")).rpartition(" ")[2])


async def _create(
    context: ToolExecutionContext, trigger: dict[str, Any], settled: BriefingSettings, key: str
) -> TaskNote:
    output: dict[str, Any] = {"category": BRIEFING, "channel": settled.channel}
    return await context.tasks.create(trigger, {}, executor=BRIEFING, output=output, title=gettext("Briefing"), key=key)


async def _end(context: ToolExecutionContext, kept: TaskNote, old: Sequence[TaskNote]) -> list[dict[str, Any]]:
    """End the briefings on the same days, and return their triggers, so that no day has two briefings."""
    ended: list[dict[str, Any]] = []
    for task in old:
        if task.id != kept.id and _days(kept) & _days(task):
            await context.tasks.change(task.id, "delete")
            ended.append(dict(task.trigger))
    return ended


async def _lacking(context: ToolExecutionContext, settled: BriefingSettings) -> Sequence[Part]:
    """Return the parts for which the person has connected no account."""
    wanted = [(part, need) for part, need in _NEEDS.items() if part not in settled.without]
    return [part for part, need in wanted if not await context.accounts.list(need)]


async def _connecting(context: ToolExecutionContext, lacking: Sequence[Part]) -> Sequence[str]:
    """Return the sentences about connecting the missing accounts."""
    if not lacking:
        return []
    names = _names("")
    said = gettext("Still without an account: {parts}.", parts=listed([names[part] for part in lacking]))
    try:
        return [said, await context.accounts.connect()]
    except ToolFailed as error:
        return [said, str(error)]


def _names(place: str) -> Mapping[Part, str]:
    """Return the names of the parts in a sentence."""
    return {
        "weather": gettext("the weather in {place}", place=place) if place else gettext("the weather"),
        "calendar": gettext("your calendar"),
        "mail": gettext("unread mail"),
        "reminders": gettext("reminders and tasks"),
        "waiting": gettext("what waits for you"),
    }
