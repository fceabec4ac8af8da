"""Chat actions on all data of a person: getting a link to it, and deleting it."""

from dataclasses import dataclass

from core.clock import Clock
from core.errors import ToolFailed
from core.language.catalogue import gettext
from operations.tenants.deletion import AskedBy, Deletion
from operations.tenants.links import VALID, ExportLinks


@dataclass(frozen=True, slots=True)
class PersonData:
    """The data of all people; returns a single person's at a time."""

    links: ExportLinks
    deletion: Deletion
    clock: Clock

    def for_tenant(self, tenant_id: str) -> "TenantData":
        return TenantData(self, tenant_id)


@dataclass(frozen=True, slots=True)
class TenantData:
    """A person's data. Implements `core.tools.person_access.DataAccess`."""

    data: PersonData
    tenant_id: str

    async def export(self) -> str:
        if not self.data.links.public_url:
            raise ToolFailed(gettext("I have no address on the web to send a link to. Ask my operator for your data."))
        link = await self.data.links.link(self.tenant_id, self.data.clock.now())
        if link is None:
            raise ToolFailed(gettext("You have had too many links today. Ask me again tomorrow."))
        minutes = int(VALID.total_seconds() // 60)
        return gettext(
            "All that I keep about you, as one zip file. The link works once, within {number} minutes: {link}",
            number=minutes,
            link=link,
        )

    async def forget(self) -> str:
        now = await self.data.clock.sound_now()
        if now is None:
            raise ToolFailed(gettext("That is not possible at the moment. Please ask me again later."))
        await self.data.deletion.ask(self.tenant_id, AskedBy.PERSON, now)
        return gettext(
            "In a few minutes I will have forgotten you: our messages, what you told me, your files, tasks and "
            "accounts. If you write to me again after that, we begin anew."
        )
