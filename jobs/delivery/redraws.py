"""Redraws: the card of a decision or an answer shows the outcome. Decide first, draw second (promise 10)."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import structlog

from core.approvals.outcomes import CardOutcome, card_line
from core.clock import Clock
from core.errors import DeliveryError, RateLimited, Rejected, StoreUnavailable
from core.language.catalogue import speaking
from core.messaging.capabilities import Redrawing
from core.messaging.channels import NotificationChannel
from core.messaging.word_buttons import TYPES
from core.questions.outcomes import QuestionEnd
from core.questions.outcomes import card_line as answered_line
from core.queue.claim_loop import Runner
from core.queue.due import DueWork
from core.queue.wakeups import NOBODY, Later
from jobs.delivery.backoff import MAX_WAIT
from jobs.delivery.card_updates import DueRedraw, RedrawClaim, RedrawEnd, Redraws, RedrawState

MAX_TRIES = 6
"""Attempts to draw a card before it is given up: the decision counts without it."""
DRAW_TIMEOUT = 10.0
SLOTS = 4
GRACE = timedelta(seconds=2)
"""The time for which a stop waits for cards that are being drawn; the others are due again when their leases end."""
POLL = timedelta(seconds=0.5)
"""Short, because a person who pressed a button waits for the card to change."""

_log = structlog.get_logger()


class RedrawRunner:
    """Draw due cards; a failure never holds up the action itself."""

    def __init__(
        self,
        redraws: Redraws,
        channels: Mapping[str, NotificationChannel],
        clock: Clock | None = None,
        poll: timedelta = POLL,
        later: Later = NOBODY,
    ) -> None:
        self._redraws = redraws
        self._clock = clock or Clock()
        self._channels = channels
        self._later = later
        self._runner: Runner[RedrawClaim] = Runner("redraw", self.claim, self.run, slots=SLOTS, poll=poll)

    def look(self) -> None:
        """Look for due cards now instead of at the next poll."""
        self._runner.look()

    async def poll(self) -> None:
        """Draw due cards until cancelled; the last cards are finished while the channels are still open."""
        try:
            await self._runner.poll()
        except asyncio.CancelledError:
            await self._runner.stop(GRACE)
            raise

    async def claim(self, _row_id: str | None) -> RedrawClaim | None:
        """Claim the redraw that has been due longest."""
        return await self._redraws.claim()

    async def run(self, claim: RedrawClaim) -> None:
        """Draw a card and record the result; give the card up if the database refuses the record twice."""
        for _ in range(2):
            try:
                await self._drawn(claim)
            except StoreUnavailable as error:
                _log.warning("redraw_delayed", outbound=claim.outbound_id, cause=str(error))
                return
            except Exception:
                _log.exception("redraw_refused", outbound=claim.outbound_id)
            else:
                return
        await self._redraws.set_aside(claim, "the database refuses it")
        _log.error("redraw_set_aside", outbound=claim.outbound_id)

    async def _drawn(self, claim: RedrawClaim) -> None:
        due = await self._redraws.load(claim)
        end = await self._draw(due)
        await self._redraws.end(claim, due, end)
        if end.state is RedrawState.DUE:
            self._later.come_due(DueWork.REDRAWS, claim.outbound_id, end.delay)
        _log.info("card_drawn", outbound=claim.outbound_id, state=end.state, reason=end.reason)

    async def _draw(self, due: DueRedraw) -> RedrawEnd:
        channel = self._channels.get(due.address.channel)
        if not isinstance(channel, Redrawing):
            return RedrawEnd(RedrawState.GIVEN_UP, "this channel changes nothing that was sent")
        if due.part is None or not due.provider_id:
            return RedrawEnd(RedrawState.GIVEN_UP, "its last part was not sent, as far as is known")
        with speaking(due.language):
            line = self._line(due)
        try:
            async with asyncio.timeout(DRAW_TIMEOUT):
                await channel.redraw(due.part, due.provider_id, due.address, line)
        except Rejected as error:
            return RedrawEnd(RedrawState.GIVEN_UP, type(error).__name__)
        except (DeliveryError, TimeoutError) as error:
            return _later(due, type(error).__name__, error.retry_after if isinstance(error, RateLimited) else None)
        except Exception as error:
            # A bug in the adapter may not keep this row due indefinitely.
            _log.exception("redraw_failed", outbound=due.outbound_id)
            return _later(due, type(error).__name__, None)
        return RedrawEnd(RedrawState.DRAWN)

    def _line(self, due: DueRedraw) -> str:
        if due.answer is None:
            return card_line(CardOutcome(due.ended_by), due.outcome_at, due.timezone, self._clock.now())
        end = QuestionEnd.CHOSEN if due.ended_by.startswith(TYPES) else QuestionEnd(due.ended_by)
        return answered_line(end, due.answer)


def _later(due: DueRedraw, reason: str, wait: timedelta | None) -> RedrawEnd:
    if due.attempts >= MAX_TRIES:
        return RedrawEnd(RedrawState.GIVEN_UP, reason)
    pause = min(wait, MAX_WAIT) if wait is not None else timedelta(seconds=2.0**due.attempts)
    return RedrawEnd(RedrawState.DUE, reason, pause)
