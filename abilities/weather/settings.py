"""The setting of the weather."""

from pydantic_settings import BaseSettings

from onevalet.ability import OwnSettings
from onevalet.file_settings import Origin


class WeatherSettings(BaseSettings):
    """The server of the weather."""

    onevalet_weather_url: Origin = ""


WEATHER = OwnSettings(
    WeatherSettings,
    for_tools=lambda settings: {"weather_url": settings.onevalet_weather_url},
    origins=lambda settings: (settings.onevalet_weather_url,),
)
