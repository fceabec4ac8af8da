"""The console, which `web` serves. Light: what answers is imported when somebody looks."""

from collections.abc import Mapping

from core.clock import Clock
from core.console.sign_in import ConsoleSignIn
from core.ids import make_id
from onevalet.console.door import ConsoleDoor, Handler
from onevalet.wiring.connections import Connections


def build_console(connections: Connections, clock: Clock, *, local: bool) -> ConsoleDoor:
    """Build the console's routes. `local`: a browser on this machine needs no session."""
    settings, database = connections.settings, connections.database

    def load() -> Mapping[str, Handler]:
        from onevalet.console.access import ConsoleAccess
        from onevalet.console.routes import ConsoleRoutes
        from onevalet.console.texts import Texts

        sign_in = ConsoleSignIn(database, settings.public_url)
        access = ConsoleAccess(sign_in, database, clock, local=local)
        texts = Texts(make_id, for_operators=local or settings.onevalet_console_texts == "on")
        return ConsoleRoutes(access, database, texts).handlers()

    return ConsoleDoor(load)
