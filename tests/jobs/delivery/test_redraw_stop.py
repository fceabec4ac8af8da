"""A worker that stops ends with the cards that it has begun to draw: its channels are closed afterwards."""

import asyncio
from datetime import timedelta
from typing import cast

import pytest

from jobs.delivery import redraws
from jobs.delivery.card_updates import RedrawClaim, Redraws
from tests.eventually import eventually


class OneCard(redraws.RedrawRunner):
    """Has one card, whose drawing hangs."""

    def __init__(self) -> None:
        super().__init__(cast(Redraws, None), {})
        self.begun, self.ended = False, False

    async def claim(self, _row_id: str | None) -> RedrawClaim | None:
        """Return the card, the first time."""
        return None if self.begun else cast(RedrawClaim, "card")

    async def run(self, claim: RedrawClaim) -> None:
        """Draw it for ever."""
        self.begun = True
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def test_nothing_is_drawn_any_more_once_the_work_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redraws, "GRACE", timedelta(0))
    card = OneCard()
    polling = asyncio.create_task(card.poll())
    await eventually(lambda: card.begun)
    polling.cancel()
    await asyncio.wait([polling])
    assert card.ended
