"""Approvals over every channel: shown in full, decided once by their person, and drawn when they are over."""

from collections.abc import AsyncIterator

import pytest

from core.clock import Clock
from core.json_types import JsonObject
from tests.contract.approving import Approving, open_approving
from tests.contract.houses import HOUSES
from tests.core.helpers import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?\nTo: nobody"}


@pytest.fixture
async def office(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Give the office on an empty database."""
    async with open_approving(HOUSES[channel], database_url, Clock()) as office:
        yield office


async def test_promise_9_what_is_shown_in_full_is_what_runs_once_it_is_approved(office: Approving) -> None:
    office.model.script = [wants(("send_mail", MAIL)), says("I sent it.")]
    await office.say("mail sam about lunch")
    card = office.card()
    for part in (await office.code(), "sam@example.com", "Lunch", "Friday at noon?", "> To: nobody"):
        assert part in card.text
    assert office.sent == []
    await office.decide("Approve")
    assert office.sent == [MAIL]
    assert office.last() == "I sent it."
    assert await office.states() == ["approved"]
    assert office.model.told() == ["Sent to sam@example.com."]


async def test_promise_10_a_cancelled_action_never_runs_and_the_model_is_told(office: Approving) -> None:
    office.model.script = [wants(("send_mail", MAIL)), says("All right, I did not.")]
    await office.say("mail sam about lunch")
    await office.decide("Cancel")
    assert office.sent == []
    assert office.model.told() == ["User cancelled this action."]
    assert office.last() == "All right, I did not."
