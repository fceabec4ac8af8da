"""Standing consents in a turn: the conditions under which they count, and the people who may grant them."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.agents.consent import target_of_valet
from core.agents.registry import AgentRegistry
from core.consents.access import PersonConsents
from core.consents.shape import Target, target_of
from core.consents.turn import TurnConsents
from core.people.access_policy import PersonRole
from core.tools.toolbox import ToolRegistry
from core.turns.services import TurnServices
from core.turns.types import TurnRequest

_BY_CLOCK = "schedule"
"""The kind of trigger that nothing from outside sets off."""


def turn_consents(request: TurnRequest, services: TurnServices) -> TurnConsents | None:
    """Return the consents that may serve in a turn.

    They count in answer to the person's own words, and in the runs of tasks by the clock: an event and a condition are
    set off by others, and so is, for all that is known, a turn that has waited.
    """
    store = services.consents
    if store is None:
        return None
    by_clock = request.trigger is not None and request.trigger.metadata.get("trigger_type") == _BY_CLOCK
    usable = request.go_on_at is None and (by_clock or _said_by_themselves(request))
    return TurnConsents(store, request.tenant.id, request.turn_id, services.clock, usable)


@dataclass(frozen=True, slots=True)
class ConsentOffer:
    """The actions that people may consent to in advance: `targets` by name."""

    services: TurnServices
    targets: Mapping[str, Target]

    @classmethod
    def of(cls, tools: ToolRegistry, agents: AgentRegistry, services: TurnServices) -> "ConsentOffer":
        plain = {tool.name: target_of(tool) for tool in tools if not tool.agent}
        return cls(services, plain | {valet.name: target_of_valet(valet) for valet in agents})

    def for_turn(self, request: TurnRequest) -> PersonConsents | None:
        """Return a tool's access to a person's consents, or None if this deployment stores none."""
        services = self.services
        if services.consents is None:
            return None
        may_grant = _said_by_themselves(request) and request.tenant.role is not PersonRole.GUEST
        return PersonConsents(
            services.consents, self.targets, request.tenant, request.turn_id, services.clock, may_grant
        )


def _said_by_themselves(request: TurnRequest) -> bool:
    powerless = [message for message in request.inbound if message.points and message.powerless]
    return request.sender is not None and request.trigger is None and not request.passed_on and not powerless
