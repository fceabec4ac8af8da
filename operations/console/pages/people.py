"""The page "People": admitted people, and strangers who wait for admission."""

from collections.abc import Sequence

from aiohttp import web

from core.people.access_policy import Listed, PersonRole
from core.people.chat_names import masked
from operations.console.access import NothingHere, Scope
from operations.console.live import version_of
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.reading.conversations import Cursor
from operations.console.reading.people import PAGE, Person, list_people, list_strangers, read_person
from operations.console.sign_in import PATH
from operations.console.visits import Visit

PLACE = f"{PATH}/people"
_SAID = {
    "admitted": "They are in, and may write now.",
    "gone": "Nobody was let in: the code has run out, or they are in already.",
    "deleted": "A worker deletes them now; within a minute nothing is left.",
    "wrong": "There is no such role or tier.",
}


class PeoplePages(Pages):
    """List people for operators; lead others to their own page."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(PLACE, self._list), web.post(f"{PLACE}/admit", self._admit)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        if not visit.viewer.operator:
            return lead_to(f"{PLACE}/{visit.viewer.tenant_id}")
        after = Cursor.read(request.query.get("after", ""))
        people = await list_people(visit.scope, after)
        strangers = [] if after else await list_strangers(visit.scope, self.kit.now())
        return self.kit.page(
            "people.html",
            visit,
            here="people",
            people=people,
            strangers=strangers,
            roles=list(PersonRole),
            tiers=self.kit.services.tiers,
            next=str(people[-1].cursor) if len(people) == PAGE else "",
            said=_SAID.get(request.query.get("said", ""), ""),
            version=version_of(people, strangers),
        )

    @signed_in
    async def _admit(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Admit a person with a code, as `pair --address` does."""
        visit.scope.only_operators()
        fields = await entered(request)
        role, tier = read_role(fields.get("role", "")), fields.get("tier", "")
        if role is None or (tier and tier not in self.kit.services.tiers):
            return lead_to(PLACE, said="wrong")
        wanted = fields.get("channel", ""), fields.get("account", ""), fields.get("user_key", "")
        waiting = await list_strangers(visit.scope, self.kit.now())
        if wanted not in {(stranger.channel, stranger.account, stranger.user_key) for stranger in waiting}:
            return lead_to(PLACE, said="gone")
        channel, account, user_key = wanted
        await self.kit.actions.record(
            visit.scope, visit.viewer.tenant_id, "admit", f"{channel} {masked(user_key)} as {role}"
        )
        listed = Listed(channel, user_key, account or None)
        admitted = await self.kit.stores.pairings.admit(listed, role, self.kit.now(), tier or None)
        return lead_to(PLACE, said="admitted" if admitted else "gone")


async def person_of(request: web.Request, scope: Scope) -> Person:
    """Return the person of a page's address. Raises `NothingHere` if the viewer may not see them."""
    person = await read_person(scope, request.match_info["tenant"])
    if person is None:
        raise NothingHere
    return person


def read_role(text: str) -> PersonRole | None:
    """Return the role that a form names; None if there is no such role."""
    return PersonRole(text) if text in list(PersonRole) else None
