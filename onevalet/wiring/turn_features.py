"""The optional services of a worker's turns, from its parts."""

from core.clock import Clock
from core.console.sign_in import ConsoleSignIn
from jobs.turn_features import TurnFeatures
from onevalet.wiring.assistant import Assistant
from onevalet.wiring.connections import Connections
from onevalet.wiring.outbound import Outbound
from onevalet.wiring.people import build_person_commands
from onevalet.wiring.triggers import Triggers


def build_turn_features(
    connections: Connections, assistant: Assistant, outbound: Outbound, triggers: Triggers, clock: Clock
) -> TurnFeatures:
    """Return what turns may use besides the assistant."""
    return TurnFeatures(
        people=build_person_commands(connections.database, assistant.credentials, clock),
        runs=triggers.runs,
        approvals=assistant.approvals,
        holds_cards=outbound.service.holds_cards,
        remembers=assistant.orchestrator.momex is not None,
        console=ConsoleSignIn(connections.database, connections.settings.public_url),
    )
