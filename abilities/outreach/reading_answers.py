"""Read people's answers to messages on the person's behalf."""

from abilities.contacts.group import GROUP
from onevalet import ToolExecutionContext, tool

_MAX_ANSWERS = 10


@tool(name="read_answers", effect="read", outside=True, group=GROUP)
async def read_answers(context: ToolExecutionContext) -> str:
    """Read people's recent answers to messages that were sent on the person's behalf, the newest first."""
    answers = (await context.messages.answers())[:_MAX_ANSWERS]
    lines = [f"{answer.at:%Y-%m-%d %H:%M} UTC, {answer.name} ({answer.channel}): {answer.text}" for answer in answers]
    return "\n".join(lines) or "Nobody has answered."
