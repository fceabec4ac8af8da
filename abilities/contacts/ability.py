"""The person's contacts: stored here or in their address books."""

from onevalet.ability import Ability

ABILITY = Ability(
    name="contacts",
    needs=("dav",),
    tools=("abilities.contacts.tools",),
    access=("contacts.read", "contacts.change"),
)
