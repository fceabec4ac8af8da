"""The console, which `web` serves. Light: its pages are imported with the first request."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from core.clock import Clock
from core.credentials.store import CredentialStore
from core.ids import make_id
from core.messaging.capabilities import stalls_of
from core.messaging.channels import Channel
from onevalet.wiring.abilities import service_foundation
from onevalet.wiring.accounts import access_to
from onevalet.wiring.connections import Connections, doing_now
from operations.console.door import ConsoleDoor
from operations.console.sign_in import ConsoleSignIn
from operations.programs.tokens import ClientTokens

if TYPE_CHECKING:  # unused by `web`
    from core.tools.account_access import PeoplesAccounts


def build_console(
    connections: Connections,
    accounts: "PeoplesAccounts | None",
    credentials: CredentialStore,
    tokens: ClientTokens,
    clock: Clock,
    channels: Sequence[Channel],
    *,
    local: bool,
) -> ConsoleDoor:
    """Build the console's routes. `local`: a browser on this machine needs no session."""
    settings, database = connections.settings, connections.database
    sign_in = ConsoleSignIn(database, settings.public_url, credentials.keys)

    def load() -> Sequence[web.RouteDef]:
        from onevalet.wiring.ability_pages import load_pages
        from onevalet.wiring.memories import open_memories
        from onevalet.wiring.own_channels import only_sending
        from onevalet.wiring.people import build_linking
        from operations.console.budgets import ShownBudgets
        from operations.console.pages.base import Kit
        from operations.console.routes import ConsoleRoutes
        from operations.console.services import PersonServices
        from operations.console.texts import Texts
        from operations.console.visits import ConsoleVisits

        visits = ConsoleVisits(sign_in, database, clock, local=local)
        texts = Texts(make_id, for_operators=local or settings.onevalet_console_texts == "on")
        linking = build_linking(database, credentials, clock)
        services = PersonServices(
            accounts,
            linking,
            settings.tiers.names,
            open_memories(settings, database, clock),
            tokens,
            sorted(only_sending(settings)),
        )
        budgets = ShownBudgets(
            settings.day_budget,
            settings.task_budget,
            settings.tiers,
            settings.sms_budget,
            settings.onevalet_currency,
        )
        ways_in, doing = partial(stalls_of, channels), doing_now(settings).of
        further = load_pages(service_foundation(settings, database, clock, access_to(accounts)))
        kit = Kit.build(
            visits,
            database,
            texts,
            connections.wakeups,
            services,
            budgets,
            ways_in,
            doing,
            further.renderer(),
            further.said,
        )
        return ConsoleRoutes(kit, further.makes).routes()

    return ConsoleDoor(load, sign_in)
