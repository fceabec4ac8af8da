"""`doctor`'s check of the endpoints that receive events."""

from collections.abc import Sequence

from abilities.webhooks.endpoints import Endpoint, Endpoints
from core.db.database import Database
from core.ids import make_id
from core.messaging.channels import Check
from operations.doctor.types import Area, over_database

FAILING = 5
"""Calls that failed in a row from which an endpoint is shown."""


async def check_endpoints(database: Database) -> Sequence[Check]:
    """Check for endpoints that are disabled, or fail again and again."""
    found = await Endpoints(database, make_id).all()
    return [_check(one) for one in found if not one.active or one.failures >= FAILING]


def _check(endpoint: Endpoint) -> Check:
    name = f"webhooks to {endpoint.host}"
    if not endpoint.active:
        return Check(name, False, f"disabled: {endpoint.reason}", f"`webhooks enable {endpoint.id}`, or `delete`")
    return Check(name, False, f"{endpoint.failures} calls failed in a row", "see the console's page Webhooks")


PROBES = (over_database(Area.WORK, "webhooks", check_endpoints),)
