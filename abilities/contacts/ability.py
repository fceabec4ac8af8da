"""The people whom the person knows: kept here or in their address books, and written to on the person's behalf."""

from onevalet.ability import Ability

ABILITY = Ability(
    name="contacts",
    needs=("dav",),
    tools=("abilities.contacts.tools",),
    access=("contacts.read", "contacts.change"),
)
