"""`deliveries …`: undelivered and waiting messages of all people; send a message again, or drop it."""

from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError
from core.ids import make_id
from core.json_types import JsonObject
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import open_database
from onevalet.settings import Settings
from operations.console.access import Scope, Viewer
from operations.console.actions import Actions
from operations.console.reading.deliveries import PAGE, Unsettled, list_unsettled
from operations.console.unsettled import Settlement, UnsettledMessages

SHOWN = 600
"""Messages that are listed at most."""
_OPERATOR = Viewer("operator", True)
"""The actor of the command line in the record of actions."""
_REFUSED = {
    Settlement.OPEN: "is being sent already, or has arrived",
    Settlement.SETTLED: "was decided about before",
    Settlement.UNREACHABLE: "cannot be sent: its person said STOP, or blocked us",
    Settlement.OVER: "asks for nothing any more",
    Settlement.MISSING: "is not there: `deliveries list` names those that are",
}


async def print_deliveries(settings: Settings, *, as_json: bool) -> None:
    """List the newest messages that failed, wait, or have an unknown outcome; without texts."""
    async with open_database(settings, "deliveries") as database:
        scope = Scope(_OPERATOR, database)
        rows = page = await list_unsettled(scope)
        while len(page) == PAGE and len(rows) < SHOWN:
            page = await list_unsettled(scope, after=page[-1].cursor)
            rows = [*rows, *page]
    if as_json:
        say_json([_as_json(row) for row in rows])
        return
    for row in rows:
        why = f"{row.reason} {row.code}".strip() or "-"
        say(f"{row.id}  {row.state:<11}  {row.at:%Y-%m-%d %H:%M}  {row.channel:<8}  {row.tenant_id}  {why}")
    if not rows:
        say("All that was sent has arrived as far as its providers say, and nothing waits.")


async def settle(settings: Settings, message: str, *, resend: bool) -> None:
    """Send a message again, or drop it; raise `ConfigError` if that is impossible."""
    async with open_database(settings, "deliveries") as database:
        tenant = await _owner_of(database, message)
        clock = Clock(settings.onevalet_clock)
        do = "resend" if resend else "drop"
        await Actions(clock, make_id).record(Scope(_OPERATOR, database), tenant, do, message)
        messages = UnsettledMessages(database, make_id)
        if resend:
            settlement, _ = await messages.resend(tenant, message)
        else:
            settlement = await messages.drop(tenant, message)
    if not settlement.is_done:
        raise ConfigError(f"The message {message} {_REFUSED[settlement]}.")
    say("It is on its way again." if resend else "It is not sent again.")


async def _owner_of(database: Database, message: str) -> str:
    found = await database.call("select tenant_id, outbound_id from find_trace($1)", message)
    if found is None or found["outbound_id"] != message:
        raise ConfigError(f"The message {message} {_REFUSED[Settlement.MISSING]}.")
    return str(found["tenant_id"])


def _as_json(row: Unsettled) -> JsonObject:
    return {
        "id": row.id,
        "tenant": row.tenant_id,
        "state": row.state.value,
        "kind": row.kind,
        "channel": row.channel,
        "reason": row.reason,
        "error_code": row.code,
        "attempts": row.attempts,
        "at": row.at.isoformat(),
    }
