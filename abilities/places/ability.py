"""Where a person is: places that they send, share live or tell by a link, and the tools that use them."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.places.chat_words import WORDS
from core.language.catalogue import ngettext_noop
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Extra, Repeated, calls, named
from onevalet.foundations import OpeningFoundation, WebFoundation, WorkFoundation

if TYPE_CHECKING:
    from aiohttp.web import RouteDef

    from core.turns.services import ForTurn


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.places.opening import open_services

    return open_services(foundation)


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.places.opening import open_work

    return open_work(foundation)


def _routes(_: AsyncExitStack, foundation: WebFoundation) -> "Sequence[RouteDef]":
    from abilities.places.page import open_routes

    return open_routes(foundation)


# A city by its name is found as for its weather.
ABILITY = Ability(
    name="places",
    needs=("weather",),
    extras=(Extra("places", None, "nobody is offered the time zone of the place that they send"),),
    tools=("abilities.places.tools",),
    services=_services,
    words=WORDS,
    tables=(
        # A place is told of: elsewhere its message would not be known again.
        PersonTable("seen_places", Belonging(Merge.MOVE), archive=Archiving(Archived.TOLD)),
        PersonTable(
            "saved_places", Belonging(Merge.FIRST, ngettext_noop("{number} saved place", "{number} saved places"))
        ),
        PersonTable("place_links", Belonging(Merge.DROP), follows=None, archive=Archiving(Archived.LEFT_OUT)),
    ),
    pages=named("abilities.places.pages:PAGES"),
    path=calls("abilities.places.path:read_path"),
    routes=_routes,
    work=_work,
)
