"""The checks before a turn is worked on, in their order: access, opt-out, rate, tier, then the configured checks.

Each refuses with a reason, or passes; a check that cannot decide raises `TurnDelayed`. Turns that no message began have
no sender, and pass the first three.
"""

from collections.abc import Iterable

import structlog

from core import replies
from core.clock import Clock, zone_or_utc
from core.errors import LeaseLost, StoreUnavailable, TurnDelayed
from core.language.catalogue import gettext
from core.messaging.messages import IgnoreReason
from core.messaging.states import IdentityState
from core.people.access_policy import Access
from core.people.rate_limit import Counted, Rate, Rates
from core.people.tiers import Tiers
from core.turns.context import Check, Refusal, TurnContext
from core.turns.types import TurnRequest

HOURS_ZONE = "hours_zone"
"""The name under which an ability's `sql/open_turn.sql` brings another zone for the hours of a person's tier."""
_log = structlog.get_logger()


class AccessCheck:
    """Refuse, without a word, a sender whom the policy no longer admits: it was changed since the message came."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def __call__(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        sender = request.sender
        if sender is None:
            return None
        channel = request.channel
        if channel is not None and self._access.keeps(channel, sender.account, sender.user_key, sender.admitted):
            return None
        return Refusal(IgnoreReason.UNKNOWN.value)


async def opt_out_check(request: TurnRequest, context: TurnContext) -> Refusal | None:
    """Refuse, without a word, messages that were sent before a STOP and are not yet answered."""
    # Decisions made on another channel go on: only the words of the sender who sent STOP have no effect.
    if request.inbound and request.sender is not None and request.sender.state is IdentityState.OPTED_OUT:
        return Refusal(IgnoreReason.OPTED_OUT.value)
    return None


class RateCheck:
    """Refuse messages over the rate: with a sentence once a minute, else silently."""

    def __init__(self, rates: Rates, tiers: Tiers) -> None:
        self._rates = rates
        self._tiers = tiers

    async def __call__(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        """Count the messages of this turn against the person's rate."""
        tier = self._tiers.of(request.tenant.role, request.tenant.tier)
        if request.sender is None or request.channel is None or tier is None:
            return None
        counted = Counted(
            request.turn_id, request.tenant.id, request.channel, request.sender.account, len(request.inbound)
        )
        match await self._rates.count(counted, tier.messages_a_minute):
            case Rate.WITHIN:
                return None
            case Rate.BEYOND:
                return Refusal("rate_limited", gettext(replies.TOO_FAST))
            case Rate.SILENT:
                return Refusal("rate_limited")
            case Rate.WAIT:
                raise TurnDelayed("the account has had its share of this minute")


class TierCheck:
    """Refuse messages outside the hours of a person's tier.

    Delay the turns of people whose tier the settings do not name: their limits are unknown.
    """

    def __init__(self, tiers: Tiers, clock: Clock) -> None:
        self._tiers = tiers
        self._clock = clock

    async def __call__(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        tier = self._tiers.of(request.tenant.role, request.tenant.tier)
        if tier is None:
            raise TurnDelayed("the settings name no tier for this person: see ONEVALET_TIERS")
        if tier.closed is None or request.sender is None:
            return None
        zone = str(request.kept.brought.get(HOURS_ZONE) or request.tenant.timezone)
        now = self._clock.now().astimezone(zone_or_utc(zone))
        if not tier.closed.covers(now.time()):
            return None
        opens = f"{tier.closed.end:%H:%M}-{tier.closed.start:%H:%M}"
        return Refusal("outside_hours", gettext("I answer you only from {hours}.", hours=opens))


class SafetyCheck:
    """A further check, which runs last. A plugin module that holds an instance of a subclass brings it."""

    async def check(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        """Return a refusal, or None to pass; an exception delays the turn."""
        return None

    async def __call__(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        return await self.check(request, context)


def ordered_checks(
    access: Access,
    rates: Rates,
    tiers: Tiers,
    *,
    clock: Clock,
    budget: Check | None = None,
    safety: Iterable[SafetyCheck] = (),
) -> tuple[Check, ...]:
    """Return all checks in their order; `budget` comes before the safety checks."""
    money = (budget,) if budget is not None else ()
    return (AccessCheck(access), opt_out_check, RateCheck(rates, tiers), TierCheck(tiers, clock), *money, *safety)


async def ask(check: Check, request: TurnRequest, context: TurnContext) -> Refusal | None:
    """Run a check. A failing check neither refuses nor passes: it delays the turn (`TurnDelayed`)."""
    try:
        return await check(request, context)
    except (LeaseLost, StoreUnavailable, TurnDelayed):
        raise
    except Exception as error:  # an extension may raise anything
        _log.exception("check_failed", turn=request.turn_id, check=type(check).__name__)
        raise TurnDelayed(f"a check could not tell: {type(error).__name__}") from error
