"""Times and places as people name them, in the product's languages, and plans by them; for abilities that need them."""

from onevalet.ability import Ability

ABILITY = Ability(name="moments")
