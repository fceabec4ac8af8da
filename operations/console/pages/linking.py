"""Linking another chat: a code is typed here, the question is read, and the link agreed to."""

from collections.abc import Sequence

from aiohttp import web

from core.people.chat_names import masked
from core.people.linking import Link, LinkOutcome, count_in_words
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.pages.people import PLACE, person_of
from operations.console.rendering import channel_label
from operations.console.visits import Visit

LINK_SAID = {
    LinkOutcome.LINKED: "Linked. Every chat of both is told, and UNLINK in one of them takes it back within a day.",
    LinkOutcome.SAME: "This code is your own: type it in the other chat, or in the console of whom it is for.",
    LinkOutcome.BUSY: "The assistant is answering there just now. Type the code again in a minute.",
    LinkOutcome.WRONG: "That code does not work. A code works once, within ten minutes.",
    LinkOutcome.USED: "This code was used already.",
    LinkOutcome.EXPIRED: "This code has run out. Write LINK in the other chat for a new one.",
    LinkOutcome.LIMITED: "Too many wrong codes: try again in an hour.",
    LinkOutcome.REFUSED: "Nothing was linked, as something would be lost. Type the code in a chat to read why.",
    "withdrawn": "The code links nothing any more.",
}
_MAX_CODE = 40


class LinkPages(Pages):
    """Link the viewer with the person who got a code, as `LINK` and `LINK … AGREE` do in a chat.

    The viewer's console is a place like their chats: a code that is typed here is confirmed here, wrong codes count,
    and to agree the viewer types the code again after the question. An operator cannot agree for another person.
    """

    def routes(self) -> Sequence[web.RouteDef]:
        place = f"{PLACE}/{{tenant}}/link"
        return [
            web.post(place, self._ask),
            web.post(f"{place}/agree", self._agree),
            web.post(f"{place}/withdraw", self._withdraw),
        ]

    @signed_in
    async def _ask(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        return await self._redeem(request, visit, agreed=False)

    @signed_in
    async def _agree(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        return await self._redeem(request, visit, agreed=True)

    @signed_in
    async def _withdraw(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Expire a link code, for example one typed by another person."""
        person = await person_of(request, visit.scope)
        await self.kit.actions.record(visit.scope, person.id, "withdraw link code", "")
        await self.kit.stores.withdraw_link_codes(person.id, self.kit.now())
        return lead_to(f"{PLACE}/{person.id}", said="withdrawn")

    async def _redeem(self, request: web.Request, visit: Visit, *, agreed: bool) -> web.StreamResponse:
        tenant = visit.scope.own(request.match_info["tenant"])
        fields = await entered(request)
        key = self.kit.actions.read_key(fields.get("key", ""), visit.viewer, tenant)
        await self.kit.actions.record(visit.scope, tenant, "agree to link" if agreed else "type link code", "")
        link = await self.kit.services.linking.redeem_in_console(
            tenant, key, _code(fields.get("code", "")), agreed=agreed, now=self.kit.now()
        )
        if link.outcome is LinkOutcome.ASK:
            return self._question(visit, link)
        for conversation in link.told:
            self.kit.wakeups.wake_delivery(conversation)
        return lead_to(f"{PLACE}/{tenant}", said=link.outcome)

    def _question(self, visit: Visit, link: Link) -> web.Response:
        return self.kit.page(
            "link.html",
            visit,
            here="people",
            place=f"{PLACE}/{visit.viewer.tenant_id}",
            theirs=[(channel_label(one.channel), masked(one.user_key), one.name) for one in link.places],
            there=count_in_words(link.counts, 0),
            ours=count_in_words(link.counts, 1),
            role=link.role,
            key=self.kit.actions.new_key(),
        )


def _code(text: str) -> str:
    """Return the code in a field, even if the chat's whole `LINK code` was pasted."""
    words = text[:_MAX_CODE].split()
    return "".join(words[1:] if words and words[0].strip("/").upper() == "LINK" else words)
