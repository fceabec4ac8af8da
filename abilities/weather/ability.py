"""The weather of the next days, anywhere."""

from onevalet.ability import Ability, named

ABILITY = Ability(
    name="weather", settings=named("abilities.weather.settings:WEATHER"), tools=("abilities.weather.tools",)
)
