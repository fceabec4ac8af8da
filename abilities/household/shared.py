"""The shared data of a household, as other abilities use it: implements `core.tools.sharing.Sharing`."""

from dataclasses import dataclass

from abilities.household.households import Households
from abilities.household.roles import HouseholdRole
from core.tools.context import TenantStorage
from core.tools.sharing import Companion, SharedHome
from core.tools.storage import SharedBy, Storage

_BY = SharedBy(reads="household_of", writes="enter_household")


@dataclass(frozen=True, slots=True)
class SharedInHousehold:
    """A person's part in their household's shared data."""

    households: Households

    async def home(self) -> SharedHome | None:
        found = await self.households.read()
        if found is None:
            return None
        me = self.households.tenant_id
        people = [
            Companion(one.id, one.called, one.role is HouseholdRole.CHILD, one.calendar.value) for one in found.people
        ]
        own = next((one for one in people if one.id == me), Companion(me, ""))
        others = tuple(one for one in people if one.id != me)
        return SharedHome(found.id, found.shown, others, own.name, own.child)

    @property
    def storage(self) -> TenantStorage:
        return Storage(self.households.database).shared_with(self.households.tenant_id, _BY)
