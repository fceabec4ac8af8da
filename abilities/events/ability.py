"""Events of other services: taken in by webhooks, kept, and handed to who waits for them."""

from onevalet.ability import Ability

ABILITY = Ability(name="events")
