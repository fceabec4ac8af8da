"""The weather of the next days, anywhere."""

from onevalet.ability import Ability

ABILITY = Ability(name="weather", tools=("abilities.weather.tools",))
