"""The standing consents of a turn: find a consent by which a call may run."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from core.clock import Clock
from core.consents.shape import Target, covers
from core.consents.store import Call, ConsentStore
from core.consents.types import ConsentUse, EndReason, StandingConsent
from core.consents.words import altered_text, changed_text, use_text
from core.journal.types import Outcome
from core.json_types import JsonObject

type Shown = Callable[[JsonObject], Awaitable[tuple[str, Sequence[tuple[str, str]]]]]
"""Returns the summary of a call with some arguments, and the arguments as label and text."""
_log = structlog.get_logger()


@dataclass(slots=True)
class TurnConsents:
    """Run calls of a turn by consents. `usable`: the turn began with the person's own words, or with a schedule."""

    store: ConsentStore
    tenant_id: str
    turn_id: str
    clock: Clock
    usable: bool

    async def use(self, call_id: str, target: Target, arguments: JsonObject, shown: Shown) -> ConsentUse | None:
        """Use a consent that covers a call; None if there is none, so that the person is asked.

        The use is counted and recorded before this returns. A repeat of the call finds its own use.
        """
        if not self.usable or target.always_asks:
            return None
        call = Call(self.tenant_id, self.turn_id, call_id, target.name, arguments)
        if earlier := await self.store.used_by(call):
            return earlier
        for consent in await self.store.active(self.tenant_id, self.clock.now(), target.name):
            if await self._serves(consent, target) and covers(target, consent.agreed.bounds, arguments):
                summary, rendered = await shown(arguments)
                notice = use_text(consent, call.use_id, summary, rendered)
                if use := await self.store.use(consent, call, notice, self.clock.now()):
                    _log.info("consent_used", turn=self.turn_id, consent=consent.id, use=use.number)
                    return use
        return None

    async def note_outcome(self, use_id: str, outcome: Outcome) -> None:
        await self.store.note_outcome(self.tenant_id, use_id, outcome)

    async def _serves(self, consent: StandingConsent, target: Target) -> bool:
        """Return whether a consent is as it was approved, and its tool unchanged; end the consent otherwise."""
        if not consent.is_whole or consent.agreed.tenant != self.tenant_id:
            _log.error("consent_not_what_was_approved", consent=consent.id)
            reason, text = EndReason.ALTERED, altered_text(consent)
        elif consent.agreed.version != target.version:
            reason, text = EndReason.TOOL_CHANGED, changed_text(consent)
        else:
            return True
        await self.store.end(consent, self.tenant_id, reason, text, self.clock.now())
        return False
