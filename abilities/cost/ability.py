"""Cost stated in advance: a person chooses how a long SMS is sent; `cost` adds up models and texts."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.cost.chat_words import WORDS
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, ConsolePages, Repeated, calls, named
from onevalet.foundations import OpeningFoundation, ServiceFoundation, WebFoundation, WorkFoundation

if TYPE_CHECKING:
    from aiohttp.web import RouteDef

    from core.turns.services import ForTurn


def _opens(_: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.cost.opening import open_holding

    open_holding(foundation)


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.cost.opening import open_services

    return open_services(foundation)


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.cost.opening import open_work

    return open_work(foundation)


def _routes(_: AsyncExitStack, foundation: WebFoundation) -> "Sequence[RouteDef]":
    from abilities.cost.page import open_routes

    return open_routes(foundation)


def _pages(_: ServiceFoundation) -> ConsolePages:
    from abilities.cost.pages import LongAnswerPages
    from abilities.cost.spared_page import SparedPages

    return ConsolePages([LongAnswerPages, SparedPages], menu=[("spared", "Spared")])


ABILITY = Ability(
    name="cost",
    settings=named("abilities.cost.settings:COST"),
    opens=_opens,
    services=_services,
    words=WORDS,
    tables=(
        PersonTable(
            "held_answers",
            Belonging(Merge.MOVE),
            (("outbound_id", "outbound", "id"),),
            Archiving(Archived.LEFT_OUT),
        ),
        PersonTable("answer_limits", Belonging(Merge.FIRST), follows=None),
        PersonTable("spared_calls", Belonging(Merge.FIRST), follows=None),
    ),
    commands=(Commands("cost", "Run", named("abilities.cost.cli:cost_app"), alone=True),),
    pages=_pages,
    path=calls("abilities.cost.path:read_path"),
    routes=_routes,
    work=_work,
)
