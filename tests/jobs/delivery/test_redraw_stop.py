"""A worker that stops draws the cards that it has begun to draw: its channels are closed afterwards."""

import asyncio
from typing import cast

from core.approvals.card_updates import RedrawClaim, Redraws
from jobs.delivery.redraws import RedrawRunner
from tests.eventually import eventually


class OneCard(RedrawRunner):
    """Has one card, which is drawn once `go` is set."""

    def __init__(self) -> None:
        super().__init__(cast(Redraws, None), {})
        self.begun, self.go, self.drawn = asyncio.Event(), asyncio.Event(), False

    async def claim(self, _row_id: str | None) -> RedrawClaim | None:
        """Return the card, the first time."""
        return None if self.begun.is_set() else cast(RedrawClaim, "card")

    async def run(self, claim: RedrawClaim) -> None:
        """Draw it, slowly."""
        self.begun.set()
        await self.go.wait()
        self.drawn = True


async def test_a_card_that_is_being_drawn_is_drawn_before_a_worker_ends() -> None:
    redraws = OneCard()
    polling = asyncio.create_task(redraws.poll())
    await eventually(redraws.begun.is_set)
    polling.cancel()
    asyncio.get_running_loop().call_later(0.05, redraws.go.set)
    await asyncio.wait([polling])
    assert redraws.drawn
