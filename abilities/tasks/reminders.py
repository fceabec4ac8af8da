"""Remind the person of something once, in their own words and without a model."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from abilities.moments.planning import PlanningAgent
from abilities.moments.saying_when import parts_said, said_elsewhere, to_the_minute
from abilities.tasks.group import GROUP
from abilities.tasks.looking_after import meant_task, restored_task
from core.messaging.visible_text import literal
from core.tools.call_plans import plan_once
from onevalet import (
    ActionExecutor,
    ActionResult,
    AgentResult,
    InputField,
    TaskNote,
    TaskState,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    TriggerContext,
    gettext,
    gettext_noop,
    tool,
    undo_word,
    valet,
)

MAX_LENGTH = 1000
_NAMES = (gettext_noop("text"), gettext_noop("at"), gettext_noop("remind me"))
"""The names of the fields and the agent on cards and in questions."""
_SET = gettext_noop(
    "I will remind you on {moment} ({zone}): {text}. It is task {number}; to take it back, write “{word}”."
)
_SET_IN_QUIET = gettext_noop(
    "I will remind you on {moment} ({zone}): {text}. That is in your quiet hours; it rings all the same. It is task "
    "{number}; to take it back, write “{word}”."
)


class TellExecutor(ActionExecutor):
    """Send the person the task's `text`, with the value that a condition saw."""

    name = "tell"
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        text = str(context.task.action.get("text") or context.task.title)
        if who := context.task.action.get("from"):
            # Words of another's: nothing in them may pose as a link.
            said = gettext("Reminder from {who}: {text}", who=literal(str(who)), text=literal(text))
            return ActionResult(True, said, outside=True)
        return ActionResult(
            True, gettext("Reminder: {text}", text=text) if context.trigger_type == "schedule" else text
        )


def is_short(text: str) -> bool:
    """Return whether a text can be a reminder's: it says something, in at most `MAX_LENGTH` characters."""
    return 0 < len(" ".join(text.split())) <= MAX_LENGTH


@valet(name="remind_me", effect="idempotent")
class RemindMe(PlanningAgent):
    """Remind the person once; for repeated reminders use ScheduleTask.

    It is set at once, and rings in quiet hours too. Tell them when, and that "undo" takes it back.
    """

    text = InputField(
        gettext_noop("What shall I remind you of?"),
        description='As they should read it: "call mum"',
        validator=is_short,
        validator_description=gettext_noop("1 to 1000 characters"),
    )
    at = InputField(
        gettext_noop("When shall I remind you?"),
        description='In their own time: 2027-01-31T15:00, or as they said it ("3pm", "in 20 minutes")',
    )

    def trigger(self) -> dict[str, Any]:
        return {"kind": "schedule", "at": self.moment().isoformat()}

    def about(self) -> str:
        return gettext("Remind you: {text}", text=self._words)

    def asks_first(self) -> bool:
        # A task's run may read words by anybody; the person's own words need no consent.
        return self.context.in_task

    async def keep(self) -> AgentResult:
        planned = await plan_once(self.context, self._plan)
        kept = await self._create(planned["trigger"], planned["key"])
        if kept.deleted:  # it was set and taken back in this turn, and is wanted again
            kept = await self._create(planned["trigger"], self.context.idempotency_key)
        offer_undo(self.context, kept)
        sentence = gettext(_SET_IN_QUIET if kept.quiet else _SET)
        return self.make_result(
            raw_message=sentence.format(
                moment=kept.next_at, zone=self.zone_in_words(), text=self._words, number=kept.number, word=undo_word()
            )
        )

    async def _plan(self) -> dict[str, Any]:
        """Return the trigger and its key, by which a turn sets one reminder for a moment, however that was given."""
        moment = self.moment()
        instant = (moment if moment.tzinfo else moment.replace(tzinfo=self._zone())).astimezone(UTC).isoformat()
        return {"trigger": self.trigger(), "key": f"{self.context.turn_id} {instant} {self._words}"}

    async def _create(self, trigger: dict[str, Any], key: str) -> TaskNote:
        return await self.context.tasks.create(
            trigger,
            {"text": self._words},
            executor="tell",
            output={"category": "reminder", "urgency": "urgent"},
            title=self._words,
            key=key,
        )

    @property
    def _words(self) -> str:
        return " ".join(str(self.text).split())


def offer_undo(context: ToolExecutionContext, kept: TaskNote, *, acts: bool = False, instead_of: str = "") -> None:
    """Offer to undo a plan: a reminder, or a task that acts; `instead_of` is the task that it has replaced."""
    title = gettext("Task: {title}", title=kept.title) if acts else gettext("Reminder: {text}", text=kept.title)
    context.undo.offer(title, take_back_reminder.name, {"task": kept.id, "acts": acts, "instead_of": instead_of})


@tool(name="take_back_reminder", effect="idempotent", inverse=True)
async def take_back_reminder(task: str, context: ToolExecutionContext, acts: bool = False, instead_of: str = "") -> str:
    """Take back a reminder or a task that was set.

    Args:
        task: The task's id.
        acts: Whether it does more than remind.
        instead_of: The id of the task that it replaced, which then continues.
    """
    kept = await context.tasks.find(task)
    if kept is None or (kept.state is TaskState.COMPLETED and not kept.deleted):
        raise ToolFailed(gettext("It has rung already: {title}.", title=kept.title if kept else task))
    await context.tasks.change(task, "delete")
    if instead_of:
        await restored_task(instead_of, context)
    if acts:
        return gettext("Undone: task {number}, {title}, is stopped.", number=kept.number, title=kept.title)
    return gettext("Undone: I will not remind you of “{title}”.", title=kept.title)


@tool(name="change_reminder", effect="idempotent", parallel=False, group=GROUP)
async def change_reminder(which: str, context: ToolExecutionContext, at: str = "", text: str = "") -> str:
    """Move a reminder that the person has set to another time, or change its words. It is done at once.

    Args:
        which: Its number, as list_tasks gives it, or words of its title.
        at: Its new time, of one that comes once: 2027-01-31T15:00, or as they said it ("4pm", "tomorrow").
        text: Its new words.
    """

    async def plan() -> dict[str, Any]:
        task = await meant_task(which, context)
        before = await context.tasks.plan(task.id)
        if before is None or not isinstance(action := before["action"], dict) or "text" not in action:
            raise ToolRetry(gettext("That is not a reminder."), note="Stop it, and plan it anew.")
        trigger = dict(cast(Any, before["trigger"]))
        if at.strip():
            trigger["at"] = to_the_minute(_moved(trigger, at, context), _here(context)).isoformat()
        words = " ".join(text.split()) or str(action["text"])
        if not 0 < len(words) <= MAX_LENGTH:
            raise ToolRetry(gettext("1 to 1000 characters"))
        title = words if text.strip() else task.title
        return {
            "before": {"task": task.id, **before},
            "after": {"trigger": trigger, "action": {**action, "text": words}, "title": title},
        }

    planned = await plan_once(context, plan)
    changed = await context.tasks.edit(planned["before"]["task"], **planned["after"])
    context.undo.offer(gettext("Changed: {title}", title=changed.title), restore_plan.name, planned["before"])
    return gettext(
        "Changed: I will remind you on {moment} ({zone}): {text}. To take it back, write “{word}”.",
        moment=changed.next_at,
        zone="; ".join(filter(None, [context.timezone, said_elsewhere(at, _here(context), context.language)])),
        text=changed.title,
        word=undo_word(),
    )


@tool(name="restore_plan", effect="idempotent", inverse=True)
async def restore_plan(
    task: str, trigger: dict[str, Any], action: dict[str, Any], title: str, context: ToolExecutionContext
) -> str:
    """Let a reminder come as it was planned before it was changed.

    Args:
        task: The task's id.
        trigger: Its trigger before.
        action: Its earlier text.
        title: Its title before.
    """
    kept = await context.tasks.edit(task, trigger, action, title)
    return gettext("Undone: I will remind you on {moment}: {text}.", moment=kept.next_at, text=kept.title)


def _moved(trigger: Mapping[str, Any], text: str, context: ToolExecutionContext) -> datetime:
    """Return the new moment of a reminder; a day alone keeps its time, a time alone its day."""
    if not trigger.get("at"):
        raise ToolRetry(
            gettext("That reminder comes again and again."), note="Stop it, and set a new one at the other time."
        )
    zone = ZoneInfo(context.timezone)
    found = parts_said(text, _here(context), context.language)
    if found.day and found.moment and found.moment.tzinfo:
        return found.moment
    before = datetime.fromisoformat(str(trigger["at"]))
    before = before.astimezone(zone) if before.tzinfo else before.replace(tzinfo=zone)
    return datetime.combine(found.day or before.date(), found.clock or before.time(), tzinfo=zone)


def _here(context: ToolExecutionContext) -> datetime:
    """Return now, by the person's clock."""
    return context.clock.now().astimezone(ZoneInfo(context.timezone))
