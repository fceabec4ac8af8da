"""All data of the person: exported for them, or deleted for good."""

from agents.person import GROUP
from onevalet import ToolExecutionContext, gettext_noop, tool


@tool(
    name="export_my_data",
    effect="idempotent",
    needs_approval=True,
    risk="high",
    parallel=False,
    group=GROUP,
    title=gettext_noop("Export all my data"),
)
async def export_my_data(context: ToolExecutionContext) -> str:
    """Send the person a link to everything that is kept about them. Only when they ask for all of their data.

    Repeat the link exactly as it is.
    """
    return await context.data.export()


@tool(
    name="forget_me",
    effect="idempotent",
    needs_approval=True,
    risk="high",
    parallel=False,
    group=GROUP,
    title=gettext_noop("Forget me: delete everything for good"),
)
async def forget_me(context: ToolExecutionContext) -> str:
    """Delete the person with everything that is kept about them, for good. Only when they ask to be forgotten wholly.

    To forget one thing, use forget. Nothing brings back what this deletes.
    """
    return await context.data.forget()
