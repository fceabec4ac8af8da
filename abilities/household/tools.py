"""The household as the model may see it."""

from abilities.household import sentences
from abilities.household.households import Households
from onevalet import ToolExecutionContext, ToolGroup, gettext_noop, tool

_GROUP = ToolGroup("household", gettext_noop("household, family"))


@tool(name="show_household", effect="read", outside=True, group=_GROUP)
async def show_household(context: ToolExecutionContext) -> str:
    """Show who is in the person's household, and the words by which they themselves change that. You cannot."""
    return sentences.overview(await context.service(Households).read(), context.tenant_id, context.channel or "")
