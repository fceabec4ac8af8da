"""Signed webhooks out: events are sent to the addresses that an operator subscribed."""

from typing import TYPE_CHECKING

from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, calls, named

if TYPE_CHECKING:
    pass


ABILITY = Ability(
    name="webhooks",
    tables=(PersonTable("webhook_messages", Belonging(Merge.MOVE), None, Archiving(Archived.LEFT_OUT)),),
    commands=(Commands("webhooks", "Run", named("abilities.webhooks.cli:webhooks_app")),),
    pages=named("abilities.webhooks.pages:PAGES"),
    probes=named("abilities.webhooks.probes:PROBES"),
    work=calls("abilities.webhooks.opening:open_work"),
)
