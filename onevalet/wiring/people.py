"""Commands by which people change their own data: linking, preferences and profile."""

from core.approvals.store import ApprovalMerge
from core.clock import Clock
from core.consents.store import ConsentMerge
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.ids import make_id
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from core.people.profile import ProfileMerge
from notify.merge import MutedMerge
from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings


def build_person_commands(
    settings: Settings, database: Database, credentials: CredentialStore, clock: Clock
) -> PersonCommands:
    return PersonCommands(build_linking(database, credentials, clock), build_people(settings, database, clock))


def build_people(settings: Settings, database: Database, clock: Clock) -> People:
    """Create everybody's preferences and profiles, with the switches that have no effect under the settings."""
    switches = (switch for ability in all_abilities() for switch in ability.switches)
    idle = {switch.name: switch.idle(settings) for switch in switches if switch.idle is not None}
    return People(database, make_id, clock, {name: why for name, why in idle.items() if why})


def build_linking(database: Database, credentials: CredentialStore, clock: Clock) -> Linking:
    """Create the linking of people, with all hooks of a merge.

    If a merge must do more with a room's tables than move rows, the room adds its `core.people.merge.MergeHook` here,
    and an ability in its declaration.
    """
    loads = (ability.merge_hooks for ability in all_abilities() if ability.merge_hooks is not None)
    hooks = (
        ProfileMerge(),
        ApprovalMerge(clock),
        ConsentMerge(clock),
        MutedMerge(),
        *(hook for load in loads for hook in load(clock, credentials)),
    )
    return Linking(database, credentials, make_id, hooks=hooks)
