"""The dependencies of abilities, and the parts that they open in a worker: a loop over the declarations."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from core.clock import Clock
from core.db.database import Database
from core.inbox.answers import use_answers
from core.inbox.groups import use_groups
from core.language.catalogue import add_catalogues, use_catalogues
from core.messaging.chat_reader import use_words
from core.people.switches import use_switches
from core.people.tenant_tables import use_tables
from onevalet.ability import Ability, Sources
from onevalet.ability_registry import all_abilities, folder_of, is_shipped
from onevalet.foundations import Foundation, OpeningFoundation, ServiceFoundation, WebFoundation
from onevalet.settings import Settings
from onevalet.wiring.extras import require_extras
from onevalet.wiring.http import guarded_client
from operations.paths.types import use_path_readers

if TYPE_CHECKING:  # unused by `web`
    from aiohttp.web import RouteDef

    from core.tools.person_access import AccountAccess
    from core.turns.services import ForTurn


def build_foundation(ability: Ability, settings: Settings, database: Database) -> Foundation:
    """Return an ability's dependencies. Raises `ConfigError` if an extra that its settings need is not installed."""
    require_extras(ability, settings)
    return Foundation(settings, database, partial(guarded_client, settings))


async def open_sources(stack: AsyncExitStack, settings: Settings, database: Database) -> Sources:
    """Return the sources of further tools of all abilities; `stack` closes them."""
    opened = [
        await stack.enter_async_context(ability.sources(build_foundation(ability, settings, database)))
        for ability in all_abilities()
        if ability.sources is not None
    ]
    return Sources(
        [source for sources in opened for source in sources.sources],
        [prefix for sources in opened for prefix in sources.prefixes],
    )


def open_abilities(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    """Open the objects that abilities offer one another, turns and programs; `stack` closes them."""
    for ability in all_abilities():
        if ability.opens is not None:
            require_extras(ability, foundation.settings)
            ability.opens(stack, foundation)


def open_routes(stack: AsyncExitStack, foundation: WebFoundation) -> "Sequence[RouteDef]":
    """Return the HTTP routes of all abilities; `stack` closes them."""
    loads = (ability.routes for ability in all_abilities() if ability.routes is not None)
    return [route for load in loads for route in load(stack, foundation)]


def service_foundation(
    settings: Settings, database: Database, clock: Clock, accounts: "Callable[[str], AccountAccess]"
) -> ServiceFoundation:
    """Return the dependencies of abilities' pages."""
    return ServiceFoundation(settings, database, partial(guarded_client, settings), clock, accounts)


def open_services(stack: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    """Return the services of all abilities for tools, by type; `stack` closes them."""
    opened: dict[type, ForTurn] = {}
    for ability in all_abilities():
        if ability.services is not None:
            require_extras(ability, foundation.settings)
            opened |= ability.services(stack, foundation)
    return opened


def use_abilities() -> None:
    """Hand the abilities' declarations to those rooms that need them in every process."""
    for ability in all_abilities():
        use = use_catalogues if is_shipped(ability) else add_catalogues  # a test checks those that ship
        use(folder_of(ability) / "locales")
    use_words(command for ability in all_abilities() for command in ability.words)
    use_switches(switch for ability in all_abilities() for switch in ability.switches)
    use_groups(ability.groups for ability in all_abilities() if ability.groups is not None)
    use_answers(ability.answers for ability in all_abilities() if ability.answers is not None)
    use_tables(table for ability in all_abilities() for table in ability.tables)
    use_path_readers(ability.path for ability in all_abilities() if ability.path is not None)


def described_collections() -> list[str]:
    """Return the collections of stored values that turns begin with descriptions of."""
    return [collection for ability in all_abilities() for collection in ability.described]
