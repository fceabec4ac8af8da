"""The optional services of a worker's turns, from its parts."""

from contextlib import AsyncExitStack

from core.clock import Clock
from core.ids import make_id
from core.turns.runs import Runs
from jobs.turns.features import TurnFeatures
from jobs.turns.messages import ProgramTurns
from onevalet.wiring.assistant import Assistant
from onevalet.wiring.connections import Connections, doing_now
from onevalet.wiring.outbound import Outbound
from onevalet.wiring.people import build_person_commands
from operations.console.sign_in import ConsoleSignIn
from operations.programs.commands import ClientCommands
from operations.programs.tokens import ClientTokens


def build_turn_features(
    stack: AsyncExitStack,
    connections: Connections,
    assistant: Assistant,
    outbound: Outbound,
    clock: Clock,
) -> TurnFeatures:
    """Return the features of turns besides the assistant."""
    sign_in = ConsoleSignIn(connections.database, connections.settings.public_url, assistant.credentials.keys)
    doing = doing_now(connections.settings)
    stack.push_async_callback(doing.close)
    return TurnFeatures(
        people=build_person_commands(connections.settings, connections.database, assistant.credentials, clock),
        runs=assistant.foundation.opened.find(Runs),
        approvals=assistant.approvals,
        holds_cards=outbound.service.holds_cards,
        remembers=assistant.orchestrator.momex is not None,
        console=sign_in,
        programs=ClientCommands(ClientTokens(connections.database, make_id), sign_in, clock),
        program_turns=ProgramTurns(
            connections.database, make_id, outbound.service.chat_of, connections.settings.public_url
        ),
        tell_doing=doing.tell,
    )
