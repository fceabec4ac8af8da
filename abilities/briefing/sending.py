"""The briefing sent: by its task without a model, or at once when the person asks for it."""

from abilities.briefing.group import GROUP
from abilities.briefing.parts import BRIEFING
from abilities.briefing.reading import read_briefing
from abilities.briefing.sections import PARTS, Part
from abilities.briefing.settings import BriefingSettings
from onevalet import ActionExecutor, ActionResult, ToolExecutionContext, TriggerContext, tool


class BriefingExecutor(ActionExecutor):
    """Send a briefing. It only reads, so after a worker's death another worker reads again."""

    name = BRIEFING
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        tools = context.tools
        settled = await BriefingSettings.of(tools)
        known = settled.known(tools.idempotency_key)
        briefing = await read_briefing(tools, settled.without, settled.place, known)
        await settled.noting(briefing.missing, tools.idempotency_key).keep(tools)
        return ActionResult(True, briefing.text, outside=True)


@tool(name="brief_me", effect="read", outside=True, timeout=90, group=GROUP)
async def brief_me(context: ToolExecutionContext, only: list[Part] | None = None, place: str = "") -> str:
    """Compose the person's briefing now: weather, events, unread mail, what is due and what waits. Pass it on.

    Args:
        only: The parts that they asked for; leave it out for their usual ones.
        place: The city for the weather, only if they named one.
    """
    settled = await BriefingSettings.of(context)
    without = [part for part in PARTS if part not in only] if only else settled.without
    return (await read_briefing(context, without, place or settled.place)).text
