"""Remind the person of something, once, in their own words and without a model."""

from zoneinfo import ZoneInfo

from agents.moments import read_moment, zone_named
from onevalet import ActionExecutor, ActionResult, ToolExecutionContext, ToolRetry, TriggerContext, tool

_MOST = 1000


class TellExecutor(ActionExecutor):
    """Tell the person the task's `text` as it stands."""

    name = "tell"
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        """Give the text; what a condition saw is added to it."""
        text = str(context.task.action.get("text") or context.task.title)
        return ActionResult(True, f"Reminder: {text}" if context.trigger_type == "schedule" else text)


@tool(name="remind_me", effect="idempotent", parallel=False)
async def remind_me(text: str, at: str, context: ToolExecutionContext, timezone: str = "") -> str:
    """Remind the person of something once, at a moment. For what comes again use ScheduleTask.

    Args:
        text: What to remind them of, as they should read it: "call mum".
        at: When, in their own time: 2027-01-31T15:00, or as they said it ("3pm", "tomorrow 9:00", "in 20 minutes").
        timezone: Their city or IANA timezone, only if they were just asked for it because none was known.
    """
    text = " ".join(text.split())
    if not text or len(text) > _MOST:
        raise ToolRetry(f"The reminder has 1 to {_MOST} characters.")
    zone = await persons_zone(context, timezone)
    moment = read_moment(at, context.clock.now().astimezone(ZoneInfo(zone)).replace(tzinfo=None))
    if moment is None:
        raise ToolRetry(f"I cannot tell when {at!r} is; give it as 2027-01-31T15:00.")
    trigger = {"kind": "schedule", "at": moment.isoformat()}
    kept = await context.tasks.create(
        dict(trigger),
        {"text": text},
        executor="tell",
        output={"category": "reminder"},
        title=text,
        key=context.idempotency_key,
    )
    return f"I will remind you on {kept.next_at} ({zone}): {text}. It is task {kept.number}."


async def persons_zone(context: ToolExecutionContext, given: str = "") -> str:
    """Give the person's timezone, and keep the one that they were just asked for. Raises `ToolRetry` to ask."""
    known = await context.tasks.timezone()
    if known:
        return known
    named = zone_named(given)
    if not named:
        raise ToolRetry("It is not known where the person is. Ask which city they live in, and give it as timezone.")
    await context.tasks.set_timezone(named)
    return named
