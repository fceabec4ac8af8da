"""The household as the model may see it."""

from abilities.household import sentences
from abilities.household.households import Households
from onevalet import ToolExecutionContext, ToolGroup, gettext_noop, tool

_GROUP = ToolGroup("household", gettext_noop("household, family"))


@tool(name="show_household", effect="read", outside=True, group=_GROUP)
async def show_household(context: ToolExecutionContext) -> str:
    """Show who is in the person's household, and the words by which they themselves change that. You cannot."""
    channel = context.channel or ""
    return sentences.overview(await context.service(Households).show(channel), context.tenant_id, channel)
