"""Remind the person of something once, in their own words and without a model."""

from typing import Any

from agents.planning import PlanningAgent
from onevalet import (
    ActionExecutor,
    ActionResult,
    AgentResult,
    InputField,
    ToolExecutionContext,
    ToolRetry,
    TriggerContext,
    tool,
    valet,
)

_MAX_LENGTH = 1000
_QUIET = " That is in your quiet hours; it rings all the same."


class TellExecutor(ActionExecutor):
    """Send the person the task's `text`, with what a condition saw."""

    name = "tell"
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        text = str(context.task.action.get("text") or context.task.title)
        return ActionResult(True, f"Reminder: {text}" if context.trigger_type == "schedule" else text)


def _is_short(text: str) -> bool:
    return 0 < len(" ".join(text.split())) <= _MAX_LENGTH


@valet(name="remind_me", effect="idempotent")
class RemindMe(PlanningAgent):
    """Remind the person of something once, at a moment. For what comes again use ScheduleTask.

    It is set at once and rings in quiet hours too. Tell them when it will be, and that "undo" takes it back.
    """

    text = InputField(
        "What shall I remind you of?",
        description='What to remind them of, as they should read it: "call mum"',
        validator=_is_short,
        validator_description=f"1 to {_MAX_LENGTH} characters",
    )
    at = InputField(
        "When shall I remind you?",
        description='In their own time: 2027-01-31T15:00, or as they said it ("3pm", "tomorrow 9:00", "in 20 minutes")',
    )

    def trigger(self) -> dict[str, Any]:
        return {"kind": "schedule", "at": self.moment().isoformat()}

    def about(self) -> str:
        return f"Remind you: {self._words}"

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
        when, quiet = kept.when.removeprefix("once, "), _QUIET if kept.quiet else ""
        return self.make_result(
            raw_message=f"I will remind you {when}: {self._words}.{quiet} It is task {kept.number}; "
            'to take it back, write "undo".'
        )

    @property
    def _words(self) -> str:
        return " ".join(str(self.text).split())


@tool(name="undo_reminder", effect="idempotent", parallel=False)
async def undo_reminder(context: ToolExecutionContext) -> str:
    """Take back the reminder that was just set, when the person wants that undone. For others use stop_task."""
    undone = await context.tasks.undo()
    if undone is None:
        raise ToolRetry("No reminder was set just now: use stop_task, with the task that they mean.")
    return f"Undone: I will not remind you of “{undone.title}”."
