"""The weather, from an emulation of Open-Meteo through the guarded client."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from yarl import URL

from abilities.weather.tools import get_weather
from core.http.guarded_client import GuardedClient
from core.tools.place_access import KnownPlace, PlaceAccess
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry
from tests.agents.services import Web, open_meteo
from tests.clocks import StandingClock
from tests.core.builders import a_context

LATE = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
"""It is the 23rd in Berlin by then, and the 22nd in New York."""


@pytest.fixture
async def service() -> AsyncIterator[Web]:
    async with open_meteo() as server:
        yield server


@pytest.fixture
async def context(service: Web) -> AsyncIterator[ToolExecutionContext]:
    """Yield a context whose operator set ONEVALET_WEATHER_URL."""
    http, clock = GuardedClient(allowed_hosts=[URL(service.url).authority]), StandingClock()
    clock.at = LATE
    yield replace(a_context(), http=http, clock=clock, language="de-DE", settings={"weather_url": service.url})
    await http.close()


async def test_now_and_the_next_three_days_by_the_places_own_calendar(
    service: Web, context: ToolExecutionContext
) -> None:
    answer = await get_weather("Berlin, Germany", context)
    assert answer.splitlines() == [
        "Weather in Berlin, Germany, in degrees Celsius:",
        "Now: rain, 3 degrees (feels like 0), wind 14 km/h",
        "Mon 23 Nov 2026: overcast, 2 to 7 degrees, 80 % chance of rain",
        "Tue 24 Nov 2026: overcast, 2 to 7 degrees, 80 % chance of rain",
        "Wed 25 Nov 2026: overcast, 2 to 7 degrees, 80 % chance of rain",
    ]
    assert answer.data["now"] == {"sky": "rain", "temperature": 3.4, "unit": "degrees Celsius"}
    assert [day["low"] for day in answer.data["days"]] == [2.2] * 3
    assert [query["name"] for query in service.asked[:2]] == ["Berlin, Germany", "Berlin"]
    assert service.asked[0]["language"] == "de"


async def test_one_day_in_the_units_of_the_person(service: Web, context: ToolExecutionContext) -> None:
    answer = await get_weather("NYC", context, date=date(2026, 11, 27), units="imperial")
    assert answer.splitlines() == [
        "Weather in New York, United States, in degrees Fahrenheit:",
        "Fri 27 Nov 2026: overcast, 2 to 7 degrees, 80 % chance of rain",
    ]
    assert service.asked[-1]["temperature_unit"] == "fahrenheit"
    assert "Now: " in await get_weather("NYC", context, date=date(2026, 11, 22))


class Here:
    """A person who sent a place from New York a quarter of an hour ago."""

    async def latest(self) -> KnownPlace:
        return KnownPlace(40.712776, -74.005974, 12.0, LATE - timedelta(minutes=15), zone="America/New_York")

    here = latest


async def test_the_weather_where_the_person_is_is_asked_for_to_a_kilometre(
    service: Web, context: ToolExecutionContext
) -> None:
    answer = await get_weather("", replace(context, services={PlaceAccess: Here()}))
    assert answer.splitlines()[:3] == [
        "Weather where you are (as of Sun 22 Nov 2026, 23:15), in degrees Celsius:",
        "Now: rain, 3 degrees (feels like 0), wind 14 km/h",
        "Sun 22 Nov 2026: overcast, 2 to 7 degrees, 80 % chance of rain",
    ]
    [query] = service.asked
    assert (query["latitude"], query["longitude"]) == ("40.71", "-74.01")
    assert query["timezone"] == "America/New_York"
    with pytest.raises(ToolFailed, match="does not learn where people are"):
        await get_weather("", context)


async def test_what_cannot_be_told_is_said_in_a_sentence(service: Web, context: ToolExecutionContext) -> None:
    for city, day in (("Atlantis", None), ("Berlin", date(2026, 11, 22)), ("Berlin", date(2026, 12, 9))):
        with pytest.raises(ToolRetry):
            await get_weather(city, context, date=day)
    for status, body in ((200, "<html>"), (429, ""), (500, "")):
        service.status, service.body = status, body
        with pytest.raises(ToolFailed, match=r"^The weather service "):
            await get_weather("Berlin", context)


async def test_where_the_operator_named_nothing_the_public_service_is_asked(context: ToolExecutionContext) -> None:
    asked: list[str] = []

    class Recorder:
        async def request(self, method: str, url: str, **_: object) -> object:
            asked.append(url)
            raise ToolFailed("The server cannot be reached.")

    with pytest.raises(ToolFailed):
        await get_weather("Berlin", replace(context, http=Recorder(), settings={"weather_url": ""}))  # type: ignore[arg-type]
    assert asked[0].startswith("https://geocoding-api.open-meteo.com/v1/search?name=Berlin&")


def test_the_model_sees_a_real_date_and_the_units() -> None:
    properties = get_weather.spec.parameters["properties"]
    assert isinstance(properties, dict)
    assert sorted(properties) == ["city", "date", "units"]
    assert '"format": "date"' in str(properties).replace("'", '"')
