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


def build_person_commands(database: Database, credentials: CredentialStore, clock: Clock) -> PersonCommands:
    return PersonCommands(build_linking(database, credentials, clock), People(database, make_id, clock))


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
