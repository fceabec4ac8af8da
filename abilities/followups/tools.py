"""Decisions about follow-ups through the model, the executor that asks, and the tool that takes back."""

from abilities.followups.deciding import TAKE_BACK, decide, undo_of
from abilities.followups.followups import FollowUps
from abilities.followups.proposing import DECIDES
from abilities.followups.sentences import question
from abilities.followups.types import EXECUTOR, Outcome
from core.clock import zone_or_utc
from onevalet import (
    ActionExecutor,
    ActionResult,
    ToolExecutionContext,
    ToolFailed,
    ToolGroup,
    TriggerContext,
    gettext,
    gettext_noop,
    tool,
)

GROUP = ToolGroup("followups", gettext_noop("follow-up, follow-ups, followups"))


class FollowUpExecutor(ActionExecutor):
    """Ask the person how something went, unless its memory was forgotten since."""

    name = EXECUTOR
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        memory = str(context.task.action.get("followup") or "")
        asked = await context.tools.service(FollowUps).ask(memory, context.task.id)
        if asked is None:
            return ActionResult(True)
        return ActionResult(True, question(*asked, zone_or_utc(context.tools.timezone)))


@tool(name=DECIDES, effect="idempotent", group=GROUP)
async def decide_followup(keep: bool, context: ToolExecutionContext, number: int | None = None) -> str:
    """Keep or decline a follow-up that was proposed to the person, by their own word. "undo" ends a kept one.

    Args:
        keep: Whether they want to be asked.
        number: Its number in the proposal: 3 in "FOLLOWUPS YES 3".
    """
    decided = await decide(context.service(FollowUps), number, keep=keep, zone=zone_or_utc(context.timezone))
    if decided.outcome is Outcome.KEPT and decided.followup is not None:
        undo = undo_of(decided.followup)
        context.undo.offer(undo.title, undo.tool, undo.arguments)
    return decided.text


@tool(name=TAKE_BACK, effect="idempotent", inverse=True)
async def take_back_followup(memory: str, context: ToolExecutionContext) -> str:
    """Take back a follow-up that was kept.

    Args:
        memory: The id of the memory that it is about.
    """
    if not await context.service(FollowUps).drop(memory):
        raise ToolFailed(gettext("I have asked already."))
    return gettext("Undone: I will not ask how it went.")
