"""The console, which `web` serves."""

from core.clock import Clock
from core.console.sign_in import ConsoleSignIn
from core.ids import make_id
from onevalet.console.access import ConsoleAccess
from onevalet.console.routes import ConsoleRoutes
from onevalet.console.texts import Texts
from onevalet.wiring.connections import Connections


def build_console(connections: Connections, clock: Clock, *, local: bool) -> ConsoleRoutes:
    """Build the console's routes. `local`: a browser on this machine needs no session."""
    settings, database = connections.settings, connections.database
    sign_in = ConsoleSignIn(database, settings.public_url)
    access = ConsoleAccess(sign_in, database, clock, local=local)
    texts = Texts(make_id, for_operators=local or settings.onevalet_console_texts == "on")
    return ConsoleRoutes(access, database, texts)
