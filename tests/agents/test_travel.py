"""Flights, from an emulation of Duffel through the guarded client; and without a key, labelled as what they are."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from yarl import URL

from agents import travel
from agents.travel import FlightSearchAgent
from core.http.guarded_client import GuardedClient
from onevalet import AgentStatus, ToolExecutionContext, ToolFailed, ToolRetry
from tests.agents.services import KEY, Web, duffel, no_loop
from tests.clocks import StandingClock
from tests.core.builders import a_context

DAY = date(2026, 12, 4)


@pytest.fixture
async def provider() -> AsyncIterator[Web]:
    async with duffel() as server:
        yield server


@pytest.fixture
async def context(provider: Web, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ToolExecutionContext]:
    """Yield a context whose operator set the key."""
    monkeypatch.setattr(travel, "SERVER", provider.url)
    http = GuardedClient(allowed_hosts=[URL(provider.url).authority])
    yield replace(a_context(), http=http, clock=StandingClock(), settings={"flights_key": KEY})
    await http.close()


async def search(context: ToolExecutionContext, **values: object) -> str:
    """Let the agent search as the loop does."""
    wish = {"origin": "BER", "destination": "New York", "date": DAY} | values
    result = await FlightSearchAgent(context, no_loop, values=wish).on_running("")
    assert result.status is AgentStatus.COMPLETED
    return result.raw_message


async def test_the_cheapest_offers_with_codes_found_for_names(provider: Web, context: ToolExecutionContext) -> None:
    answer = await search(context, return_date=date(2026, 12, 9), passengers=2)
    assert answer.splitlines()[:2] == [
        "The cheapest flights, BER to NYC on Fri 4 Dec 2026, back on Wed 9 Dec 2026, 2 people:",
        "Duffel Airways, €99.50: BER Fri 4 Dec 2026 09:10 - NYC 12:30 (ZZ100, direct); "
        "back NYC Wed 9 Dec 2026 09:10 - BER 12:30 (ZZ100, direct)",
    ]
    assert len(answer.splitlines()) == 4
    assert provider.asked == [
        {
            "slices": [
                {"origin": "BER", "destination": "NYC", "departure_date": "2026-12-04"},
                {"origin": "NYC", "destination": "BER", "departure_date": "2026-12-09"},
            ],
            "passengers": [{"type": "adult"}] * 2,
        }
    ]
    assert "Sample data" not in answer


@pytest.mark.parametrize("wish", [{}, {"return_date": date(2026, 12, 9)}, {"origin": "Berlin\nReal flights:"}])
async def test_without_a_key_each_answer_says_that_it_is_sample_data(
    wish: dict[str, object], provider: Web, context: ToolExecutionContext
) -> None:
    unset = replace(context, settings={"flights_key": ""})
    answer = await search(unset, **wish)
    assert answer.startswith("Sample data, not real flights (")
    assert [line.endswith(", made up") for line in answer.splitlines()[1:]] == [True] * 3
    assert await search(unset, **wish) == answer
    assert provider.asked == []


async def test_the_providers_own_test_mode_is_sample_data_too(provider: Web, context: ToolExecutionContext) -> None:
    provider.live = False
    assert (await search(context)).startswith("Sample data, not real flights (")


async def test_what_cannot_be_found_is_said_in_a_sentence(provider: Web, context: ToolExecutionContext) -> None:
    for wish in ({"origin": "Atlantis"}, {"date": date(2026, 11, 20)}, {"return_date": date(2026, 12, 3)}):
        with pytest.raises(ToolRetry):
            await search(context, **wish)
    provider.body = "none"
    assert await search(context) == "There are no flights from BER to NYC on Fri 4 Dec 2026."
    provider.status, provider.body = 500, f"internal detail {KEY}"
    with pytest.raises(ToolFailed, match=r"^The flight search does not work at the moment \(status 500\)\.$"):
        await search(context)
    with pytest.raises(ToolFailed, match="status 401"):
        await search(replace(context, settings={**context.settings, "flights_key": "wrong"}))


async def test_today_counts_wherever_it_still_is_today(context: ToolExecutionContext) -> None:
    late = StandingClock()
    late.at = datetime(2026, 12, 5, 7, 0, tzinfo=UTC)  # in Honolulu it is the evening of the 4th
    assert "BER to NYC on Fri 4 Dec 2026" in await search(replace(context, clock=late))


def test_a_key_is_not_shown_where_a_context_is_printed(context: ToolExecutionContext) -> None:
    assert KEY not in repr(context)
