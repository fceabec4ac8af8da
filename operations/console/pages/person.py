"""A person's page: their addresses, preferences and connected accounts."""

from collections.abc import Sequence

from aiohttp import web

from core.credentials.choice import shown
from core.people.access_policy import Listed, PersonRole
from notify.addresses import AddressRefused
from operations.console.live import version_of
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.pages.consents import CONSENT_SAID, consent_lines
from operations.console.pages.data import DATA_SAID
from operations.console.pages.linking import LINK_SAID
from operations.console.pages.people import PLACE, person_of, read_role
from operations.console.pages.programs import PROGRAM_SAID
from operations.console.preference_form import PreferenceField, changes_of, preference_fields
from operations.console.reading.actions import newest_actions
from operations.console.reading.people import Person, asked_links, open_link_codes
from operations.console.visits import Visit

_SAID = {
    "kept": "Saved.",
    "role": "The role and the tier are changed.",
    "own": "Your own role is changed by another owner, or with `bin/onevalet pair --address`.",
    "nowhere": "Nobody was changed: this person has no address that was let in.",
    "address": "The address is kept.",
    "no-address": "The address is forgotten.",
    "not-there": "There is no such address any more.",
    **CONSENT_SAID,
    **DATA_SAID,
    **LINK_SAID,
    **PROGRAM_SAID,
}


class PersonPages(Pages):
    """Show a person, to themselves and to operators, and change their settings."""

    def routes(self) -> Sequence[web.RouteDef]:
        place = f"{PLACE}/{{tenant}}"
        return [
            web.get(place, self._show),
            web.post(f"{place}/preferences", self._prefer),
            web.post(f"{place}/role", self._change_role),
            web.post(f"{place}/address", self._change_address),
        ]

    @signed_in
    async def _show(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        person = await person_of(request, visit.scope)
        said, program = (
            (_SAID | {**self.kit.said}).get(request.query.get("said", ""), ""),
            request.query.get("name", "")[:60],
        )
        return await self._page(visit, person, said, program=program)

    @signed_in
    async def _prefer(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        person = await person_of(request, visit.scope)
        sent, known = await entered(request), await self.kit.stores.preferences.read(person.id)
        changed, wrong = changes_of(known, sent)
        if wrong:
            fields = preference_fields(known, changed, wrong)
            return await self._page(visit, person, preferences=fields, status=422)
        for name, value in changed.items():
            await self.kit.actions.record(visit.scope, person.id, "preference", name)
            await self.kit.stores.preferences.set(person.id, name, value)
        return lead_to(f"{PLACE}/{person.id}", said="kept")

    @signed_in
    async def _change_role(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Change role and tier, as `pair --address` does for an admitted person."""
        person = await person_of(request, visit.scope)
        visit.scope.only_operators()
        fields = await entered(request)
        role, tier = read_role(fields.get("role", "")), fields.get("tier", "")
        if role is None or (tier and tier not in self.kit.services.tiers):
            return await self._page(visit, person, "There is no such role or tier.", status=422)
        if person.id == visit.viewer.tenant_id and role is not PersonRole.OWNER:
            # Without an owner, no viewer of the console could undo this.
            return lead_to(f"{PLACE}/{person.id}", said="own")
        place = next((one for one in person.identities if one.admitted and not one.one_way), None)
        if place is None:
            return lead_to(f"{PLACE}/{person.id}", said="nowhere")
        await self.kit.actions.record(visit.scope, person.id, "role", f"{role} {tier}".strip())
        listed = Listed(place.channel, place.user_key, place.account or None)
        changed = await self.kit.stores.pairings.admit(listed, role, self.kit.now(), tier or None)
        return lead_to(f"{PLACE}/{person.id}", said="role" if changed else "nowhere")

    @signed_in
    async def _change_address(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Add or delete an address for notifications, as `notify add` and `notify delete` do."""
        person = await person_of(request, visit.scope)
        visit.scope.only_operators()
        fields = await entered(request)
        channel, address = fields.get("channel", ""), fields.get("address", "")
        adds = fields.get("do", "") == "add"
        await self.kit.actions.record(visit.scope, person.id, "address" if adds else "no address", channel[:20])
        try:
            if not adds:
                gone = await self.kit.stores.addresses.delete(person.id, channel, address)
                return lead_to(f"{PLACE}/{person.id}", said="no-address" if gone else "not-there")
            await self.kit.stores.addresses.add(person.id, channel, address)
        except AddressRefused as error:
            return await self._page(visit, person, str(error), status=422)
        return lead_to(f"{PLACE}/{person.id}", said="address")

    async def _page(
        self,
        visit: Visit,
        person: Person,
        said: str = "",
        *,
        preferences: Sequence[PreferenceField] = (),
        program: str = "",
        status: int = 200,
    ) -> web.Response:
        async with visit.scope.tenant(person.id) as connection:
            codes = await open_link_codes(connection, person.id, self.kit.now())
            asked = await asked_links(connection, person.id, self.kit.now())
            actions = await newest_actions(connection, person.id)
        services = self.kit.services
        accounts = await services.accounts.list(person.id) if services.accounts else ()
        consents = consent_lines(await self.kit.stores.consents.all(person.id))
        tokens = await services.tokens.list(person.id, self.kit.now()) if services.tokens else ()
        return self.kit.page(
            "person.html",
            visit,
            status=status,
            here="people",
            person=person,
            own=person.id == visit.viewer.tenant_id,
            place=f"{PLACE}/{person.id}",
            only_send=self.kit.services.only_send,
            preferences=preferences or preference_fields(await self.kit.stores.preferences.read(person.id)),
            has_accounts=services.accounts is not None,
            accounts=[(one, shown(one)) for one in accounts],
            consents=consents,
            codes=codes,
            asked=asked,
            has_programs=services.tokens is not None,
            tokens=tokens,
            program=program,
            key=self.kit.actions.new_key(),
            actions=actions,
            roles=list(PersonRole),
            tiers=self.kit.services.tiers,
            remembers=self.kit.services.memory is not None,
            said=said,
            version=version_of(person, accounts, consents, codes, asked, tokens, actions),
        )
