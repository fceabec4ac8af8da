"""The tools' access to a person's standing consents: work out a shape, grant an approved consent, list, withdraw."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, cast

from core.clock import Clock, zone_or_utc
from core.consents.shape import Target, WantedConsent, agrees, build_shape
from core.consents.store import ConsentStore
from core.consents.types import MAX_DAYS, MAX_USES, Agreed, Told
from core.consents.words import bounds_in_words, consents_text, withdrawn_text
from core.errors import ToolFailed, ToolRetry
from core.json_types import JsonObject
from core.language.catalogue import gettext, name_in_words
from core.people.tenant import TurnTenant


@dataclass(frozen=True, slots=True)
class PersonConsents:
    """Implements `core.tools.person_access.ConsentAccess` for a turn.

    `may_grant`: the turn answers the person's own words, and the person is no guest.
    """

    store: ConsentStore
    targets: Mapping[str, Target]
    tenant: TurnTenant
    turn_id: str
    clock: Clock
    may_grant: bool

    async def shape(
        self, action: str, same: JsonObject, choices: JsonObject, ranges: JsonObject, texts: JsonObject
    ) -> JsonObject:
        if not self.may_grant:
            raise ToolFailed("Consent in advance is given only in answer to the person's own message, by no guest.")
        target = self._target(action)
        wanted = WantedConsent(same, choices, ranges, texts)
        if not target.always_asks:
            approved = await self.store.approved_calls(self.tenant.id, target.name)
            wanted = WantedConsent(same, choices, ranges, texts, next((a for a in approved if agrees(same, a)), None))
        bounds = build_shape(target, wanted)
        return {"tool": target.name, "version": target.version, "bounds": bounds}

    def in_words(self, shape: JsonObject) -> JsonObject:
        return {
            "action": name_in_words(str(shape["tool"])),
            "within": bounds_in_words(cast(JsonObject, shape["bounds"])),
        }

    async def grant(
        self, agent: str, shape: JsonObject, uses: int, days: int, told: Literal["at once", "digest"], key: str
    ) -> str:
        target = self._target(str(shape["tool"]))
        if target.always_asks or target.version != shape["version"]:
            raise ToolFailed(gettext("Nothing was agreed: the ability has changed in the meantime."))
        if not (0 < uses <= MAX_USES and 0 < days <= MAX_DAYS):
            raise ToolFailed(
                gettext("At most {uses} times and {days} days can be agreed.", uses=MAX_USES, days=MAX_DAYS)
            )
        now = self.clock.now()
        until = (now + timedelta(days=days)).replace(microsecond=0)
        bounds = cast(JsonObject, shape["bounds"])
        told_how: Told = told
        agreed = Agreed(self.tenant.id, target.name, target.version, bounds, uses, until, told_how)
        asked: JsonObject = {"shape": shape, "uses": uses, "days": days, "report": told}
        try:
            number = await self.store.grant(agreed, self.turn_id, key, agent, asked, now)
        except PermissionError as error:
            raise ToolFailed("Nothing was agreed: the person has not approved it themselves.") from error
        if not number:
            raise ToolFailed(gettext("There are too many of them already: please end one first."))
        return gettext(
            "From now on I do this without asking. WITHDRAW {number} ends it, and CONSENTS lists all of them.",
            number=number,
        )

    async def overview(self) -> str:
        now = self.clock.now()
        return consents_text(await self.store.active(self.tenant.id, now), zone_or_utc(self.tenant.timezone), now)

    async def withdraw(self, number: int | None = None) -> str:
        ended = await self.store.withdraw(self.tenant.id, number, "words", self.clock.now())
        if not ended:
            raise ToolRetry(gettext("There is no such consent."))
        return withdrawn_text(ended)

    def _target(self, action: str) -> Target:
        target = self.targets.get(action)
        if target is None:
            known = ", ".join(name for name, each in self.targets.items() if not each.always_asks) or "none"
            raise ToolRetry(f"There is no tool {action[:100]!r}. Those that can be agreed to in advance: {known}.")
        return target
