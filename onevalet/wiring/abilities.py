"""What abilities are built on, and what they open in a worker: one loop over the declarations."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial

from core.accounts.trial import Trial
from core.db.database import Database
from core.http.types import HttpClient
from core.language.catalogue import use_catalogues
from core.tools.person_access import AccountAccess
from core.triggers.event_trial import PastMail
from onevalet.ability import Ability, Foundation, Sources
from onevalet.ability_registry import all_abilities, folder_of
from onevalet.settings import Settings
from onevalet.wiring.extras import require_extras
from onevalet.wiring.http import guarded_client


def build_foundation(ability: Ability, settings: Settings, database: Database) -> Foundation:
    """Return what an ability is built on. Raises `ConfigError` if an extra that its settings need is not installed."""
    require_extras(ability, settings)
    return Foundation(settings, database, partial(guarded_client, settings))


async def open_sources(stack: AsyncExitStack, settings: Settings, database: Database) -> Sources:
    """Return where further tools of all abilities come from; `stack` closes it."""
    opened = [
        await stack.enter_async_context(ability.sources(build_foundation(ability, settings, database)))
        for ability in all_abilities()
        if ability.sources is not None
    ]
    return Sources(
        [source for sources in opened for source in sources.sources],
        [prefix for sources in opened for prefix in sources.prefixes],
    )


def use_locales() -> None:
    """Say the abilities' sentences from the catalogues in their folders."""
    for ability in all_abilities():
        use_catalogues(folder_of(ability) / "locales")


def described_collections() -> list[str]:
    """Return the collections of stored values that turns begin with descriptions of."""
    return [collection for ability in all_abilities() for collection in ability.described]


def account_trials() -> Mapping[str, Callable[[], Trial]]:
    """Return what loads the trials of passwords, by the service whose accounts they open."""
    return {service: load for ability in all_abilities() for service, load in ability.trials.items()}


def open_past_mail(accounts: Callable[[str], AccountAccess], http: HttpClient) -> PastMail | None:
    """Return what looks into people's mailboxes; None where no ability does. `accounts` has theirs by their tenant."""
    loads = (ability.past_mail for ability in all_abilities() if ability.past_mail is not None)
    return next((load(accounts, http) for load in loads), None)
