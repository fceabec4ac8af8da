"""Reminders of a group itself: whoever asks, they come to the group, in the topic or thread in which it was asked."""

from typing import Any
from zoneinfo import ZoneInfo

from abilities.groups.groups import Groups
from abilities.groups.tools import GROUP
from abilities.moments.saying_when import moment_said, to_the_minute
from core.messaging.visible_text import literal
from core.tools.call_plans import plan_once
from onevalet import (
    ActionExecutor,
    ActionResult,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    TriggerContext,
    gettext,
    tool,
)

MAX_OPEN = 20
"""Reminders that a group may have at a time: several people ask for them, and nobody in particular tidies up."""
MAX_LENGTH = 1000


class TellGroup(ActionExecutor):
    """Say the task's `text` in its group, in `thread`; nothing once we take no part there."""

    name = "tell_group"
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        action = context.task.action
        text = gettext("Reminder: {text}", text=literal(str(action["text"])))
        done = await context.tools.service(Groups).remind(str(action["thread"]), text)
        return ActionResult(True, error="" if done.get("outcome") == "said" else "off")


@tool(name="remind_group", effect="idempotent", parallel=False, group=GROUP)
async def remind_group(text: str, at: str, context: ToolExecutionContext, zone: str = "") -> str:
    """In a group: remind the whole group once, by a message there. It is set at once; tell them when.

    Args:
        text: The words, as the group should read them: "leave for the station"
        at: By the group's clock: 2027-01-31T15:00, or as they said it ("at six", "in 20 minutes")
        zone: The group's time zone, such as Europe/Berlin; only if you were told to ask for it.
    """

    async def plan() -> dict[str, Any]:
        thread = await context.service(Groups).thread()
        if thread is None:
            raise ToolRetry("This is no group: use remind_me.")
        words = " ".join(text.split())
        if not 0 < len(words) <= MAX_LENGTH:
            raise ToolRetry(gettext("1 to 1000 characters"))
        if len(await context.tasks.list()) >= MAX_OPEN:
            raise ToolFailed(
                gettext("This group has {number} reminders already. Stop one of them first.", number=MAX_OPEN)
            )
        here = context.clock.now().astimezone(ZoneInfo(await _zone(zone, context)))
        moment = to_the_minute(moment_said(at, here, context.language), here)
        return {"at": moment.isoformat(), "text": words, "thread": thread}

    planned = await plan_once(context, plan)
    kept = await context.tasks.create(
        {"kind": "schedule", "at": planned["at"]},
        {"text": planned["text"], "thread": planned["thread"]},
        executor=TellGroup.name,
        title=planned["text"],
        key=context.idempotency_key,
    )
    return gettext(
        "I will remind this group on {moment} ({zone}): {text}. It is task {number}.",
        moment=kept.next_at,
        zone=await context.tasks.timezone(),
        text=literal(planned["text"]),
        number=kept.number,
    )


async def _zone(said: str, context: ToolExecutionContext) -> str:
    """Return the group's time zone, stored if it is said for the first time."""
    if said.strip():
        await context.tasks.set_timezone(said)
    known = await context.tasks.timezone()
    if known is None:
        raise ToolRetry(gettext("In which time zone is this group?"), note="Ask them, and call it again with `zone`.")
    return known
