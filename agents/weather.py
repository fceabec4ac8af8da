"""Tell the weather, from Open-Meteo, which needs no key (open-meteo.com/en/docs).

The operator may name another server of that API with ONEVALET_WEATHER_URL.
"""

from datetime import date as Date
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ValidationError

from onevalet import TextWithData, ToolExecutionContext, ToolFailed, ToolRetry, tool

_PLACES = "https://geocoding-api.open-meteo.com"
_FORECASTS = "https://api.open-meteo.com"
_DAYS_AHEAD = 15
_UNREADABLE = "The weather service gave an answer that cannot be read."
_UNITS = {
    "metric": ("Celsius", "km/h", {}),
    "imperial": ("Fahrenheit", "mph", {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph"}),
}
# WMO code table 4677, as far as Open-Meteo gives it.
_SKY = {
    **dict.fromkeys((0,), "clear"),
    **dict.fromkeys((1,), "mostly clear"),
    **dict.fromkeys((2,), "partly cloudy"),
    **dict.fromkeys((3,), "overcast"),
    **dict.fromkeys((45, 48), "fog"),
    **dict.fromkeys((51, 53, 55), "drizzle"),
    **dict.fromkeys((56, 57), "freezing drizzle"),
    **dict.fromkeys((61, 63), "rain"),
    **dict.fromkeys((65,), "heavy rain"),
    **dict.fromkeys((66, 67), "freezing rain"),
    **dict.fromkeys((71, 73, 77), "snow"),
    **dict.fromkeys((75,), "heavy snow"),
    **dict.fromkeys((80, 81), "rain showers"),
    **dict.fromkeys((82,), "violent rain showers"),
    **dict.fromkeys((85, 86), "snow showers"),
    **dict.fromkeys((95,), "thunderstorm"),
    **dict.fromkeys((96, 99), "thunderstorm with hail"),
}


class _Place(BaseModel):
    name: str
    latitude: float
    longitude: float
    timezone: str = "UTC"
    admin1: str = ""
    country: str = ""


class _Places(BaseModel):
    results: list[_Place] = []


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


@tool(name="get_weather", effect="read")
async def get_weather(
    city: str, context: ToolExecutionContext, date: Date | None = None, units: Literal["metric", "imperial"] = "metric"
) -> TextWithData:
    """Tell the weather in a city: how it is now and the next days, or the forecast for one day.

    A watch finds its data at $.now.temperature, and $.days[0].low, .high and .rain_chance.

    Args:
        city: The city's name, with the country where there are several.
        date: The one day that is wanted; leave it out for now and the next three days.
        units: What the person is used to.
    """
    place = await _find(city, context)
    today = context.clock.now().astimezone(ZoneInfo(place.timezone)).date()
    if date is not None and not today <= date <= today + timedelta(days=_DAYS_AHEAD):
        raise ToolRetry(f"It is {today} there, and forecasts reach {_DAYS_AHEAD} days ahead; ask for a day in between.")
    first, last = (date, date) if date else (today, today + timedelta(days=2))
    scale, speed, asked = _UNITS[units]
    query = {
        "latitude": str(place.latitude),
        "longitude": str(place.longitude),
        "timezone": place.timezone,
        "current": ",".join(_Now.model_fields),
        "daily": ",".join(name for name in _Days.model_fields if name != "time"),
        "start_date": str(first),
        "end_date": str(last),
        **asked,
    }
    body = await _get(context, _FORECASTS, "/v1/forecast", query)
    try:
        forecast = _Forecast.model_validate_json(body)
    except ValidationError as error:
        raise ToolFailed(_UNREADABLE) from error
    where = ", ".join(dict.fromkeys(part for part in (place.name, place.admin1, place.country) if part))
    # No degree sign: it would double the price of an SMS.
    lines = [f"Weather in {where}, in degrees {scale}:"]
    data: dict[str, Any] = {"place": where, "days": _days_data(forecast.daily)}
    if date is None or date == today:
        now = forecast.current
        lines.append(
            f"Now: {_sky(now.weather_code)}, {round(now.temperature_2m)} degrees (feels like "
            f"{round(now.apparent_temperature)}), wind {round(now.wind_speed_10m)} {speed}"
        )
        data["now"] = {"sky": _sky(now.weather_code), "temperature": now.temperature_2m, "unit": f"degrees {scale}"}
    return TextWithData("\n".join([*lines, *_days(forecast.daily)]), data)


async def _find(city: str, context: ToolExecutionContext) -> _Place:
    name = city.strip()
    if not name:
        raise ToolRetry("Name a city.")
    query = {"name": name, "count": "1", "language": context.language[:2] or "en", "format": "json"}
    try:
        places = _Places.model_validate_json(await _get(context, _PLACES, "/v1/search", query)).results
    except ValidationError as error:
        raise ToolFailed(_UNREADABLE) from error
    if places:
        return places[0]
    # The service finds "Paris", and nothing for "Paris, France".
    if "," in name:
        return await _find(name.partition(",")[0], context)
    raise ToolRetry(f"There is no place named {name!r} that the weather service knows; name a larger one nearby.")


async def _get(context: ToolExecutionContext, server: str, path: str, query: dict[str, str]) -> bytes:
    url = f"{context.settings.get('weather_url') or server}{path}?{urlencode(query)}"
    answer = await context.http.request("GET", url)
    if answer.status != 200:
        raise ToolFailed(f"The weather service cannot tell at the moment (status {answer.status}).")
    return answer.body


def _days(days: _Days) -> list[str]:
    lines = []
    for day, code, low, high, chance in zip(
        days.time,
        days.weather_code,
        days.temperature_2m_min,
        days.temperature_2m_max,
        days.precipitation_probability_max,
        strict=False,
    ):
        if code is None or low is None or high is None:
            continue
        rain = f", {chance} % chance of rain" if chance else ""
        lines.append(f"{day:%A}, {day}: {_sky(code)}, {round(low)} to {round(high)} degrees{rain}")
    return lines


def _days_data(days: _Days) -> list[dict[str, Any]]:
    return [
        {
            "date": str(day),
            "sky": None if code is None else _sky(code),
            "low": low,
            "high": high,
            "rain_chance": chance,
        }
        for day, code, low, high, chance in zip(
            days.time,
            days.weather_code,
            days.temperature_2m_min,
            days.temperature_2m_max,
            days.precipitation_probability_max,
            strict=False,
        )
    ]


def _sky(code: int) -> str:
    return _SKY.get(code, "changeable")
