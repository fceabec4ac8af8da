"""The stores through which pages change data, as chats and the command line do."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from core.agents.pool import Pool
from core.approvals.store import ApprovalStore
from core.consents.store import ConsentStore
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.ids import IdMaker
from core.people.linking import withdraw_codes
from core.people.pairing import Pairings
from core.people.preferences import PreferenceStore
from core.people.profile import ProfileStore
from core.queue.wakeups import Wakeups
from notify.addresses import AddressBook
from notify.store import NotificationStore
from operations.console.unsettled import UnsettledMessages
from operations.tenants.links import ExportLinks


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of the pages. They know no viewer: a page hands them only ids that its scope has checked."""

    approvals: ApprovalStore
    pool: Pool
    messages: UnsettledMessages
    notifications: NotificationStore
    consents: ConsentStore
    preferences: PreferenceStore
    profile: ProfileStore
    pairings: Pairings
    addresses: AddressBook
    exports: ExportLinks
    withdraw_link_codes: Callable[[str, datetime], Awaitable[int]]
    """Expires a person's link codes; returns the number of codes that were still good."""

    @classmethod
    def build(
        cls, database: Database, wakeups: Wakeups, make_id: IdMaker, keys: SecretKeys, only_send: Sequence[str]
    ) -> "Stores":
        """Build the stores. `only_send`: the operator's own channels that receive no messages."""
        return cls(
            approvals=ApprovalStore(database, wakeups),
            pool=Pool(database, wakeups),
            messages=UnsettledMessages(database, make_id),
            notifications=NotificationStore(database, make_id),
            consents=ConsentStore(database),
            preferences=PreferenceStore(database),
            profile=ProfileStore(database, make_id),
            pairings=Pairings(database, make_id),
            addresses=AddressBook(database, make_id, only_send),
            # The archive is at the console's own address, so that its link needs no origin.
            exports=ExportLinks(database, "", keys),
            withdraw_link_codes=partial(withdraw_codes, database),
        )
