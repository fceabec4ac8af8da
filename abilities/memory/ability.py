"""Memory: what a person told is remembered, recalled, corrected, and forgotten for good."""

from onevalet.ability import Ability

ABILITY = Ability(name="memory", tools=("abilities.memory.tools",))
