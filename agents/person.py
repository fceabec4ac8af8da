"""The person's preferences and profile: shown and changed in their own words."""

from onevalet import ToolExecutionContext, ToolFailed, ToolGroup, gettext, gettext_noop, tool

GROUP = ToolGroup("person", gettext_noop("about me, my data, forget me, preferences"))
"""The tools for a person's own data, which few talks need."""


@tool(name="set_preference", effect="idempotent", parallel=False)
async def set_preference(name: str, value: str, context: ToolExecutionContext) -> str:
    """Keep how the person wants to be served, when they say it.

    Args:
        name: name (what to call them), language (pt-PT), timezone (an IANA name or a city), channel (where to write
            first: sms, slack, telegram), quiet (hours: 22:00-07:00), busy (messages while you work: steer, queue,
            interrupt) or mute (all kinds of notifications to leave out: weather, price; or all).
        value: "off" takes it back.
    """
    changed = await context.person.change(name, value, context.idempotency_key)
    if changed.differs:
        context.undo.offer(changed.title, take_back_preference.name, changed.to_json())
    return changed.text


@tool(name="show_preferences", effect="read", group=GROUP)
async def show_preferences(context: ToolExecutionContext) -> str:
    """List how the person wants to be served: name, language, timezone, channel, quiet hours and the like."""
    return await context.person.preferences()


@tool(name="show_profile", effect="read", group=GROUP)
async def show_profile(context: ToolExecutionContext) -> str:
    """List what is known about the person, each with a number and whether they told it or it was inferred."""
    return await context.person.profile()


@tool(name="undo_profile_fact", effect="once", parallel=False, group=GROUP)
async def undo_profile_fact(number: int, context: ToolExecutionContext) -> str:
    """Take back one thing that is known about the person, when they say that it is wrong or should be forgotten.

    Args:
        number: Its number, as show_profile gives it.
    """
    gone = await context.person.unlearn(number, context.idempotency_key)
    if gone.fact:
        title = gettext("Taken back: {fact}", fact=gone.fact)
        context.undo.offer(title, restore_profile_fact.name, {"number": number})
    return gone.text


@tool(name="take_back_preference", effect="idempotent", inverse=True)
async def take_back_preference(
    name: str, before: dict[str, str], after: dict[str, str], context: ToolExecutionContext
) -> str:
    """Let a preference be as it was.

    Args:
        name: Its name.
        before: The value before the change.
        after: The value after it.
    """
    restored = await context.person.change_back(name, before, after)
    if restored is None:
        raise ToolFailed(gettext("It has been changed again since."))
    return gettext("Undone. It is again as it was: {preference}.", preference=restored)


@tool(name="restore_profile_fact", effect="idempotent", inverse=True)
async def restore_profile_fact(number: int, context: ToolExecutionContext) -> str:
    """Let something that was known about the person count again.

    Args:
        number: Its number.
    """
    if not await context.person.relearn(number):
        raise ToolFailed(gettext("Something newer is known in its place now."))
    return gettext("Undone: this counts again: {fact}.", fact=await context.person.fact(number))
