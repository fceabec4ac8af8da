"""A plugin with a tool that acts, though nothing comes of it."""

from core.tools.tool import tool


@tool(effect="once")
async def post(text: str) -> str:
    """Post a text."""
    return f"posted {text}"
