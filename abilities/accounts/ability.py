"""People's accounts elsewhere: connected by a link, kept open, chosen among, and ended."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from abilities.accounts.chat_words import WORDS
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, ConsolePages, OwnSettings, Repeated
from onevalet.foundations import AccountsFoundation, ServiceFoundation, WebFoundation, WorkFoundation

if TYPE_CHECKING:
    from aiohttp.web import RouteDef
    from typer import Typer

    from core.tools.account_access import PeoplesAccounts
    from operations.doctor.types import Probe


def _settings() -> OwnSettings[Any]:
    from abilities.accounts.settings import ACCOUNTS

    return ACCOUNTS


def _accounts(stack: AsyncExitStack, foundation: AccountsFoundation) -> "PeoplesAccounts":
    from abilities.accounts.opening import open_accounts

    return open_accounts(stack, foundation)


def _connect_command() -> "Typer":
    from abilities.accounts.cli import connect_app

    return connect_app


def _accounts_command() -> "Typer":
    from abilities.accounts.cli import accounts_app

    return accounts_app


def _pages(_: ServiceFoundation) -> ConsolePages:
    from abilities.accounts.pages import SAID, AccountPages

    return ConsolePages([AccountPages], said=SAID)


def _probes() -> "Sequence[Probe]":
    from abilities.accounts.probes import PROBES

    return PROBES


def _routes(stack: AsyncExitStack, foundation: WebFoundation) -> "Sequence[RouteDef]":
    from abilities.accounts.opening import open_routes

    return open_routes(stack, foundation)


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.accounts.opening import open_work

    return open_work(foundation)


ABILITY = Ability(
    name="accounts",
    settings=_settings,
    tools=("abilities.accounts.tools",),
    words=WORDS,
    tables=(PersonTable("connect_links", Belonging(Merge.DROP), follows=None, archive=Archiving(Archived.LEFT_OUT)),),
    accounts=_accounts,
    commands=(
        Commands("connect", "Set up", _connect_command, alone=True),
        Commands("accounts", "People", _accounts_command, alone=True),
    ),
    pages=_pages,
    probes=_probes,
    routes=_routes,
    work=_work,
)
