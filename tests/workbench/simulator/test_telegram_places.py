"""Places in the emulated Telegram: sent, of a venue, shared live, moved, and shared no longer."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from telegram import Update

from tests.workbench.simulator.telegram_harness import Harness, open_harness
from workbench.simulator.base import BadAction

HERE = {"latitude": "51.5014", "longitude": "-0.1419"}


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    """A simulator whose Ada has not written yet."""
    async with open_harness() as opened:
        yield opened


async def updates(harness: Harness) -> list[dict[str, Any]]:
    """Return the updates that wait, after the official library has read each."""
    body = await harness.call("getUpdates")
    assert all(Update.de_json(update, harness.bot) for update in body["result"])
    return list(body["result"])


async def test_a_live_place_is_edited_as_it_moves_and_ends_without_a_period(harness: Harness) -> None:
    await harness.act("location", **HERE, accuracy="12", live=900)
    await harness.act("move_location", latitude="51.6", longitude="-0.1")
    await harness.act("stop_location")
    sent, moved, ended = await updates(harness)
    assert sent["message"]["location"] == {
        "latitude": 51.5014,
        "longitude": -0.1419,
        "horizontal_accuracy": 12.0,
        "live_period": 900,
    }
    assert moved["edited_message"]["location"] == {"latitude": 51.6, "longitude": -0.1, "live_period": 900}
    assert moved["edited_message"]["message_id"] == sent["message"]["message_id"]
    assert moved["edited_message"]["edit_date"] >= sent["message"]["date"]
    assert ended["edited_message"]["location"] == {"latitude": 51.6, "longitude": -0.1}
    with pytest.raises(BadAction, match="not shared live"):
        await harness.act("move_location", **HERE)


@pytest.mark.parametrize(
    ("wishes", "why"),
    [
        ({"live": 59}, "60 to 86400 seconds"),
        ({"live": 86_401}, "60 to 86400 seconds"),
        ({"accuracy": "1501"}, "at most 1500 metres"),
        ({"latitude": "north"}, "in degrees"),
    ],
)
async def test_a_place_that_no_app_sends_is_refused(harness: Harness, wishes: dict[str, Any], why: str) -> None:
    with pytest.raises(BadAction, match=why):
        await harness.act("location", **{**HERE, **wishes})
    assert await updates(harness) == []


async def test_a_place_of_somebody_else_is_not_moved(harness: Harness) -> None:
    sent = await harness.act("location", **HERE, live=900)
    await harness.act("start", "grace")
    with pytest.raises(BadAction, match="not shared live"):
        await harness.act("move_location", "grace", **HERE, message_id=sent["message_id"])
