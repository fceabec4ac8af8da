"""A weather service that knows every place and answers at once, as Open-Meteo describes its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, timedelta

from aiohttp import web

from workbench.serving import serving

_VALUES = {
    "weather_code": 61,
    "temperature_2m_min": 4.0,
    "temperature_2m_max": 9.0,
    "precipitation_probability_max": 70,
    "temperature_2m": 7.0,
    "apparent_temperature": 5.0,
    "wind_speed_10m": 14.0,
}


@asynccontextmanager
async def weather_service() -> AsyncIterator[str]:
    """Serve on a free port; yield the origin."""
    app = web.Application()
    app.router.add_get("/v1/search", _search)
    app.router.add_get("/v1/forecast", _forecast)
    async with serving(app) as origin:
        yield origin


async def _search(request: web.Request) -> web.Response:
    place = {"id": 1, "name": request.query["name"], "latitude": 52.5, "longitude": 13.4}
    return web.json_response({"results": [place | {"timezone": "Europe/Berlin"}]})


async def _forecast(request: web.Request) -> web.Response:
    first, last = (date.fromisoformat(request.query[name]) for name in ("start_date", "end_date"))
    days = [str(first + timedelta(days=number)) for number in range((last - first).days + 1)]
    daily = {name: [_VALUES[name]] * len(days) for name in request.query["daily"].split(",")}
    current = {name: _VALUES[name] for name in request.query["current"].split(",")}
    return web.json_response({"latitude": 52.5, "current": current, "daily": daily | {"time": days}})
