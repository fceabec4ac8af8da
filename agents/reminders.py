"""Remind the person of something once, in their own words and without a model."""

from typing import Any

from agents.planning import PlanningAgent
from onevalet import (
    ActionExecutor,
    ActionResult,
    AgentResult,
    InputField,
    TaskNote,
    TaskState,
    ToolExecutionContext,
    ToolFailed,
    TriggerContext,
    gettext,
    gettext_noop,
    tool,
    valet,
)

MAX_LENGTH = 1000
_NAMES = (gettext_noop("text"), gettext_noop("at"), gettext_noop("remind me"))
"""What cards and questions call the fields and the agent."""
_SET = gettext_noop(
    "I will remind you on {moment} ({zone}): {text}. It is task {number}; to take it back, write “{word}”."
)
_SET_IN_QUIET = gettext_noop(
    "I will remind you on {moment} ({zone}): {text}. That is in your quiet hours; it rings all the same. It is task "
    "{number}; to take it back, write “{word}”."
)
UNDO = "undo"
"""The word that takes it back without a model; it stands in the sentence in every language."""


class TellExecutor(ActionExecutor):
    """Send the person the task's `text`, with what a condition saw."""

    name = "tell"
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        text = str(context.task.action.get("text") or context.task.title)
        return ActionResult(
            True, gettext("Reminder: {text}", text=text) if context.trigger_type == "schedule" else text
        )


def _is_short(text: str) -> bool:
    return 0 < len(" ".join(text.split())) <= MAX_LENGTH


@valet(name="remind_me", effect="idempotent")
class RemindMe(PlanningAgent):
    """Remind the person of something once, at a moment. For what comes again use ScheduleTask.

    It is set at once and rings in quiet hours too. Tell them when it will be, and that "undo" takes it back.
    """

    text = InputField(
        gettext_noop("What shall I remind you of?"),
        description='What to remind them of, as they should read it: "call mum"',
        validator=_is_short,
        validator_description=gettext_noop("1 to 1000 characters"),
    )
    at = InputField(
        gettext_noop("When shall I remind you?"),
        description='In their own time: 2027-01-31T15:00, or as they said it ("3pm", "tomorrow 9:00", "in 20 minutes")',
    )

    def trigger(self) -> dict[str, Any]:
        return {"kind": "schedule", "at": self.moment().isoformat()}

    def about(self) -> str:
        return gettext("Remind you: {text}", text=self._words)

    def asks_first(self) -> bool:
        # What a task's run reads may have been written by anybody; the person's own words need no consent.
        return self.context.in_task

    async def keep(self) -> AgentResult:
        kept = await self.context.tasks.create(
            self.trigger(),
            {"text": self._words},
            executor="tell",
            output={"category": "reminder", "urgency": "urgent"},
            title=self._words,
            key=self.context.idempotency_key,
        )
        offer_undo(self.context, kept)
        sentence = gettext(_SET_IN_QUIET if kept.quiet else _SET)
        zone = self.state.get("zone")
        return self.make_result(
            raw_message=sentence.format(moment=kept.next_at, zone=zone, text=self._words, number=kept.number, word=UNDO)
        )

    @property
    def _words(self) -> str:
        return " ".join(str(self.text).split())


def offer_undo(context: ToolExecutionContext, kept: TaskNote) -> None:
    """Offer to undo a reminder that was set without asking."""
    context.undo.offer(gettext("Reminder: {text}", text=kept.title), take_back_reminder.name, {"task": kept.id})


@tool(name="take_back_reminder", effect="idempotent", inverse=True)
async def take_back_reminder(task: str, context: ToolExecutionContext) -> str:
    """Take back a reminder that was set.

    Args:
        task: The task's id.
    """
    kept = await context.tasks.find(task)
    if kept is None or (kept.state is TaskState.COMPLETED and not kept.deleted):
        raise ToolFailed(gettext("It has rung already: {title}.", title=kept.title if kept else task))
    await context.tasks.change(task, "delete")
    return gettext("Undone: I will not remind you of “{title}”.", title=kept.title)
