"""The tool by which the model asks for another person's consent."""

from typing import Any

from onevalet import ToolFailed, ToolGroup, gettext_noop, tool

_GROUP = ToolGroup("joint", gettext_noop("agree, agrees, agreed, consents, both of us"))


@tool(name="ask_both", joint=True, group=_GROUP)
async def ask_both(who: str, action: str, arguments: dict[str, Any]) -> str:
    """Call another tool only if somebody of the person's household agrees, too: "book it if Ben agrees".

    Each of the two gets a card with the exact arguments, and it runs once both approved.

    Args:
        who: Who must agree, as the person calls them.
        action: The name of the other tool.
        arguments: The other tool's arguments.
    """
    # The loop runs the call that this one stands for; it comes here only if there is no such call.
    raise ToolFailed(f"There is no tool {action[:64]!r}, or nobody else can be asked here.")
