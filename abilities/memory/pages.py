"""The memories of a person: to see, and for themselves to correct and forget."""

from collections.abc import Sequence

from aiohttp import web

from abilities.memory.page_reading import list_memories
from core.errors import ToolFailed, ToolRetry
from core.tools.memory_access import MemoryAccess
from onevalet.ability import ConsolePages
from operations.console.access import NothingHere
from operations.console.live import version_of
from operations.console.pages.base import Kit, Pages, entered, entered_all, lead_to, read_number, signed_in
from operations.console.pages.people import PLACE, person_of
from operations.console.visits import Visit

_SAID = {
    "corrected": "Corrected: the new sentence holds from now on.",
    "known": "That is remembered already.",
    "forgotten": "Forgotten. What was said about it is erased as soon as nothing of it is on its way.",
    "fact": "Taken back.",
    "gone": "That is not remembered any more.",
    "changed": "What is remembered has changed meanwhile, so nothing was forgotten. Look again, please.",
    "no-statement": "Only a sentence that tells something can be remembered, and no password or code.",
}
_MAX_TEXT = 2000


class MemoryPages(Pages):
    """Show and change memories by the same calls as the tools of the chat."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit)
        self._open = kit.services.memory

    def routes(self) -> Sequence[web.RouteDef]:
        place = f"{PLACE}/{{tenant}}/memory"
        return [
            web.get(place, self._list),
            web.post(f"{place}/correct", self._correct),
            web.post(f"{place}/forget", self._ask_to_forget),
            web.post(f"{place}/forgotten", self._forget),
            web.post(f"{place}/fact", self._take_fact_back),
        ]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        person = await person_of(request, visit.scope)
        tenant, before = person.id, request.query.get("before", "")
        async with visit.scope.tenant(tenant) as connection:
            page = await list_memories(connection, tenant, read_number(before))
            may_read = await self.kit.texts.look(connection, visit, tenant, "memory", tenant, self.kit.now())
        facts = await self.kit.stores.profile.read(tenant)
        return self.kit.page(
            "memory/list.html",
            visit,
            here="people",
            person=person,
            place=f"{PLACE}/{tenant}/memory",
            memories=page.memories,
            before=page.before,
            first=not before,
            facts=facts,
            may_read=may_read,
            key=self.kit.actions.new_key(),
            may_change=visit.viewer.tenant_id == tenant and self._open is not None,
            said=_SAID.get(request.query.get("said", ""), ""),
            version=version_of(page, facts),
        )

    @signed_in
    async def _correct(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        memory, place = self._own_memory(request, visit)
        fields = await entered(request)
        number, text = read_number(fields.get("number", "")), fields.get("text", "").strip()[:_MAX_TEXT]
        if not text:
            return lead_to(place, said="no-statement")
        await self.kit.actions.record(visit.scope, visit.viewer.tenant_id, "correct memory", str(number))
        try:
            key = self.kit.actions.read_key(fields.get("key", ""), visit.viewer, visit.viewer.tenant_id)
            stored = await memory.correct(number, text, key)
        except (ToolFailed, ToolRetry):  # their words are for a model
            return lead_to(place, said="no-statement")
        return lead_to(place, said="corrected" if stored else "known")

    @signed_in
    async def _ask_to_forget(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Show the memories that would be forgotten, which are several if others say the same."""
        memory, place = self._own_memory(request, visit)
        number = read_number((await entered(request)).get("number", ""))
        meant = await memory.ask_to_forget("", [number]) if number else ()
        if not meant:
            return lead_to(place, said="gone")
        lines = [remembered.line() for remembered in meant]
        return self.kit.page(
            "confirm.html",
            visit,
            here="people",
            title="Forget this?",
            lines=lines,
            note="It is deleted for good, and erased from what was said and done.",
            address=f"{place}/forgotten",
            fields=[("line", line) for line in lines],
            label="Forget",
            back=place,
        )

    @signed_in
    async def _forget(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        memory, place = self._own_memory(request, visit)
        lines = await entered_all(request, "line")
        if not lines:
            return lead_to(place, said="gone")
        numbers = ", ".join(line.partition(".")[0][:15] for line in lines)
        await self.kit.actions.record(visit.scope, visit.viewer.tenant_id, "forget", numbers)
        try:
            gone = await memory.forget(lines)
        except ToolRetry:
            return lead_to(place, said="changed")
        return lead_to(place, said="forgotten" if gone else "gone")

    @signed_in
    async def _take_fact_back(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        tenant = visit.scope.own(request.match_info["tenant"])
        number = read_number((await entered(request)).get("number", ""))
        await self.kit.actions.record(visit.scope, tenant, "take back fact", str(number))
        call = self.kit.texts.make_id("call")
        undone = await self.kit.stores.profile.undo(tenant, number, self.kit.now(), call) if number else None
        return lead_to(f"{PLACE}/{tenant}/memory", said="fact" if undone else "gone")

    def _own_memory(self, request: web.Request, visit: Visit) -> tuple[MemoryAccess, str]:
        """Return the viewer's own memory: its contents count as the person's words, so nobody else changes it."""
        tenant = visit.scope.own(request.match_info["tenant"])
        if self._open is None:
            raise NothingHere
        return self._open(tenant), f"{PLACE}/{tenant}/memory"


PAGES = ConsolePages([MemoryPages])
