"""Tell the weather, from Open-Meteo, which needs no key (open-meteo.com/en/docs).

The operator may name another server of that API with ONEVALET_WEATHER_URL.
"""

from datetime import date as Date
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ValidationError

from onevalet import (
    TextWithData,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    day_in_words,
    gettext,
    gettext_noop,
    moment_in_words,
    tool,
)

Units = Literal["metric", "imperial"]

_PLACES = "https://geocoding-api.open-meteo.com"
_FORECASTS = "https://api.open-meteo.com"
_DAYS_AHEAD = 15
_UNREADABLE = gettext_noop("The weather service gave an answer that cannot be read.")
_ASKED = {"metric": {}, "imperial": {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph"}}
_SCALE = {"metric": "degrees Celsius", "imperial": "degrees Fahrenheit"}
# No degree sign: it would double the price of an SMS.
_HEAD = {
    "metric": gettext_noop("Weather in {place}, in degrees Celsius:"),
    "imperial": gettext_noop("Weather in {place}, in degrees Fahrenheit:"),
}
_HEAD_HERE = {
    "metric": gettext_noop("Weather where you are (as of {moment}), in degrees Celsius:"),
    "imperial": gettext_noop("Weather where you are (as of {moment}), in degrees Fahrenheit:"),
}
_NOW = {
    "metric": gettext_noop("Now: {sky}, {degrees} degrees (feels like {felt}), wind {wind} km/h"),
    "imperial": gettext_noop("Now: {sky}, {degrees} degrees (feels like {felt}), wind {wind} mph"),
}
_DAY = gettext_noop("{day}: {sky}, {low} to {high} degrees")
_DAY_WITH_RAIN = gettext_noop("{day}: {sky}, {low} to {high} degrees, {chance} % chance of rain")
# WMO code table 4677, as far as Open-Meteo gives it.
_SKY = {
    **dict.fromkeys((0,), gettext_noop("clear")),
    **dict.fromkeys((1,), gettext_noop("mostly clear")),
    **dict.fromkeys((2,), gettext_noop("partly cloudy")),
    **dict.fromkeys((3,), gettext_noop("overcast")),
    **dict.fromkeys((45, 48), gettext_noop("fog")),
    **dict.fromkeys((51, 53, 55), gettext_noop("drizzle")),
    **dict.fromkeys((56, 57), gettext_noop("freezing drizzle")),
    **dict.fromkeys((61, 63), gettext_noop("rain")),
    **dict.fromkeys((65,), gettext_noop("heavy rain")),
    **dict.fromkeys((66, 67), gettext_noop("freezing rain")),
    **dict.fromkeys((71, 73, 77), gettext_noop("snow")),
    **dict.fromkeys((75,), gettext_noop("heavy snow")),
    **dict.fromkeys((80, 81), gettext_noop("rain showers")),
    **dict.fromkeys((82,), gettext_noop("violent rain showers")),
    **dict.fromkeys((85, 86), gettext_noop("snow showers")),
    **dict.fromkeys((95,), gettext_noop("thunderstorm")),
    **dict.fromkeys((96, 99), gettext_noop("thunderstorm with hail")),
}


class City(BaseModel):
    """A place. `seen_at`: when the person was there, if they sent it."""

    name: str = ""
    latitude: float
    longitude: float
    timezone: str = "UTC"
    admin1: str = ""
    country: str = ""
    seen_at: datetime | None = None


class _Places(BaseModel):
    results: list[City] = []


class _Now(BaseModel):
    temperature_2m: float
    apparent_temperature: float
    weather_code: int
    wind_speed_10m: float


class _Days(BaseModel):
    time: list[Date]
    weather_code: list[int | None]
    temperature_2m_min: list[float | None]
    temperature_2m_max: list[float | None]
    precipitation_probability_max: list[int | None]


class _Forecast(BaseModel):
    current: _Now
    daily: _Days


@tool(name="get_weather", effect="read", doing=gettext_noop("Checking the weather…"))
async def get_weather(
    city: str, context: ToolExecutionContext, date: Date | None = None, units: Units = "metric"
) -> TextWithData:
    """Tell the weather: now and the next three days, or one day.

    Args:
        city: With the country where there are several; "" for where the person is.
        date: That one day.
        units: As they are used to.
    """
    place = await find_city(city, context) if city.strip() else await _here(context)
    today = context.clock.now().astimezone(ZoneInfo(place.timezone)).date()
    if date is not None and not today <= date <= today + timedelta(days=_DAYS_AHEAD):
        raise ToolRetry(
            gettext("Forecasts reach from today to {number} days ahead.", number=_DAYS_AHEAD),
            note=f"It is {today} there. Ask for a day in between.",
        )
    first, last = (date, date) if date else (today, today + timedelta(days=2))
    query = {
        "latitude": str(place.latitude),
        "longitude": str(place.longitude),
        "timezone": place.timezone,
        "current": ",".join(_Now.model_fields),
        "daily": ",".join(name for name in _Days.model_fields if name != "time"),
        "start_date": str(first),
        "end_date": str(last),
        **_ASKED[units],
    }
    body = await _get(context, _FORECASTS, "/v1/forecast", query)
    try:
        forecast = _Forecast.model_validate_json(body)
    except ValidationError as error:
        raise ToolFailed(gettext(_UNREADABLE)) from error
    lines, days = _days(forecast.daily)
    data: dict[str, Any] = {"place": _name(place), "days": days}
    if date is None or date == today:
        now = forecast.current
        sky = _sky(now.weather_code)
        data["now"] = {"sky": sky, "temperature": now.temperature_2m, "unit": _SCALE[units]}
        said = gettext(
            _NOW[units],
            sky=gettext(sky),
            degrees=round(now.temperature_2m),
            felt=round(now.apparent_temperature),
            wind=round(now.wind_speed_10m),
        )
        lines.insert(0, said)
    return TextWithData("\n".join([_head(place, units, context), *lines]), data)


def _name(place: City) -> str:
    return ", ".join(dict.fromkeys(part for part in (place.name, place.admin1, place.country) if part))


def _head(place: City, units: Units, context: ToolExecutionContext) -> str:
    if place.seen_at is None:
        return gettext(_HEAD[units], place=_name(place))
    return gettext(_HEAD_HERE[units], moment=moment_in_words(place.seen_at, ZoneInfo(context.timezone)))


async def _here(context: ToolExecutionContext) -> City:
    """Return where the person is, to about a kilometre: the weather service need not know more."""
    here = await context.place.here()
    return City(
        latitude=round(here.latitude, 2),
        longitude=round(here.longitude, 2),
        timezone=here.zone or context.timezone,
        seen_at=here.at,
    )


async def find_city(city: str, context: ToolExecutionContext) -> City:
    """Return a city by its name. Raises `ToolRetry` if there is none, and `ToolFailed`."""
    name = city.strip()
    query = {"name": name, "count": "1", "language": (context.language or "en")[:2], "format": "json"}
    try:
        places = _Places.model_validate_json(await _get(context, _PLACES, "/v1/search", query)).results
    except ValidationError as error:
        raise ToolFailed(gettext(_UNREADABLE)) from error
    if places:
        return places[0]
    # The service finds "Paris", and nothing for "Paris, France".
    if "," in name:
        return await find_city(name.partition(",")[0], context)
    raise ToolRetry(gettext("The weather service knows no place named “{name}”; name a larger one nearby.", name=name))


async def _get(context: ToolExecutionContext, server: str, path: str, query: dict[str, str]) -> bytes:
    url = f"{context.settings.get('weather_url') or server}{path}?{urlencode(query)}"
    answer = await context.http.request("GET", url)
    if answer.status != 200:
        raise ToolFailed(
            gettext("The weather service does not work at the moment (status {status}).", status=answer.status)
        )
    return answer.body


def _days(days: _Days) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the days as lines for a person, without those of which too little is known, and as data."""
    lines: list[str] = []
    data: list[dict[str, Any]] = []
    for day, code, low, high, chance in zip(
        days.time,
        days.weather_code,
        days.temperature_2m_min,
        days.temperature_2m_max,
        days.precipitation_probability_max,
        strict=False,
    ):
        sky = None if code is None else _sky(code)
        data.append({"date": str(day), "sky": sky, "low": low, "high": high, "rain_chance": chance})
        if sky is None or low is None or high is None:
            continue
        known = {"day": day_in_words(day), "sky": gettext(sky), "low": round(low), "high": round(high)}
        lines.append(gettext(_DAY_WITH_RAIN if chance else _DAY, chance=chance, **known))
    return lines, data


def _sky(code: int) -> str:
    """Return the sky in English, as data has it."""
    return _SKY.get(code, gettext_noop("changeable"))
