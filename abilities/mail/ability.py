"""Mail in the person's own accounts: searched, read, sorted, drafted and sent."""

from onevalet.ability import Ability

ABILITY = Ability(name="mail", tools=("abilities.mail.tools",))
