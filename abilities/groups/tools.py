"""The tools between a group and a member's own chat."""

from collections.abc import Mapping
from dataclasses import fields

from abilities.groups import sentences
from abilities.groups.groups import Groups
from core import replies
from core.journal.types import Outcome, StepKey
from core.llm.types import ToolCall
from core.tools.results import ToolEnd
from core.tools.tool import AnyTool, Tool
from onevalet import ToolExecutionContext, ToolFailed, ToolGroup, ToolRetry, gettext, gettext_noop, tool

GROUP = ToolGroup("groups", gettext_noop("group, groups"))


class HandedOn(Tool[..., object]):
    """A tool whose result ends the turn: it is said to the people as it is, and nothing more."""

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        """Run it, and hand the turn over."""
        end = await super().run_call(key, call, arguments, context)
        if end.outcome is not Outcome.OK:
            return end
        return ToolEnd(f"{end.text}{replies.HANDED_OVER}", Outcome.HANDED_OVER, end.text)


def _ending(made: AnyTool) -> AnyTool:
    return HandedOn(**{field.name: getattr(made, field.name) for field in fields(made)})


async def _ask(name: str, context: ToolExecutionContext) -> str:
    """In a group: pass what a member just wrote to you on to that member's own chat, where it is answered and done.

    Args:
        name: The writer's name, as their message begins with it.
    """
    done = await context.service(Groups).ask_in_own_chat(name)
    called = str(done.get("name") or name)
    if done.get("outcome") == "asked":
        return sentences.asked(called)
    if done.get("outcome") == "nowhere":
        return sentences.nowhere(called)
    raise ToolRetry("Nobody of that name wrote to you just now.")


ask_in_own_chat = _ending(tool(name="ask_in_own_chat", effect="idempotent", parallel=False, group=GROUP)(_ask))


@tool(
    name="say_in_group",
    title=gettext_noop("Say in the group"),
    effect="idempotent",
    needs_approval=True,
    standing=(),
    group=GROUP,
)
async def say_in_group(group: str, text: str, context: ToolExecutionContext) -> str:
    """Say something of the person's in the group from which they asked, if they want it said there.

    Args:
        group: The group's name.
        text: The words, exactly as they are to be read there.
    """
    done = await context.service(Groups).say(group, text, context.idempotency_key)
    if done.get("outcome") == "said":
        return gettext("I have said it in the group.")
    if done.get("outcome") == "off":
        raise ToolFailed(gettext("I no longer take part in that group."))
    raise ToolFailed(gettext("You have not asked me from a group with that name lately."))
