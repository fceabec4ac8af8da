"""The weather of the next days, anywhere."""

from typing import Any

from onevalet.ability import Ability, OwnSettings


def _settings() -> OwnSettings[Any]:
    from abilities.weather.settings import WEATHER

    return WEATHER


ABILITY = Ability(name="weather", settings=_settings, tools=("abilities.weather.tools",))
