"""People's accounts elsewhere: connected by a link, kept open, chosen among, and ended."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.accounts.chat_words import WORDS
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, Repeated, calls, named
from onevalet.foundations import WorkFoundation

if TYPE_CHECKING:
    pass


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.accounts.opening import open_work

    return open_work(foundation)


ABILITY = Ability(
    name="accounts",
    settings=named("abilities.accounts.settings:ACCOUNTS"),
    tools=("abilities.accounts.tools",),
    words=WORDS,
    tables=(PersonTable("connect_links", Belonging(Merge.DROP), follows=None, archive=Archiving(Archived.LEFT_OUT)),),
    accounts=calls("abilities.accounts.opening:open_accounts"),
    commands=(
        Commands("connect", "Set up", named("abilities.accounts.cli:connect_app"), alone=True),
        Commands("accounts", "People", named("abilities.accounts.cli:accounts_app"), alone=True),
    ),
    pages=named("abilities.accounts.pages:PAGES"),
    probes=named("abilities.accounts.probes:PROBES"),
    routes=calls("abilities.accounts.opening:open_routes"),
    work=_work,
)
