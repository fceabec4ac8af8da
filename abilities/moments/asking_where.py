"""Agents that go by the clock of the person, and ask where the person is if that is not known."""

from abilities.moments.places import zone_named
from onevalet import AgentResult, AgentStatus, StandardAgent, gettext, gettext_noop

_WHERE = gettext_noop("Which city are you in? I need your timezone for that.")
_NOWHERE = gettext_noop("I do not know that place. Which city are you in? I need your timezone for that.")


class ZoneAgent(StandardAgent):
    """Wait for the name of a place, and store its zone. A subclass returns `ask_where()`, and defines `go_on`."""

    def ask_where(self) -> AgentResult:
        """Return the question for the person's city."""
        return self.make_result(AgentStatus.WAITING_FOR_INPUT, gettext(_WHERE))

    async def go_on(self, zone: str | None) -> AgentResult:
        """Continue in the zone of the person."""
        raise NotImplementedError

    async def on_waiting_for_input(self, msg: str) -> AgentResult:
        zone = zone_named(msg)
        if not zone:
            return self.make_result(AgentStatus.WAITING_FOR_INPUT, gettext(_NOWHERE))
        await self.context.tasks.set_timezone(zone)
        # Another zone counts if the person has set it elsewhere since.
        return await self.go_on(await self.context.tasks.timezone())
