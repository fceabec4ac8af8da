"""What `doctor` tells of people's accounts: those to be connected again."""

from abilities.accounts.idle_grants import find_revoked
from core.db.database import Database
from core.messaging.channels import Check

SHOWN = 5
"""How many accounts are named."""


async def check_accounts(database: Database) -> list[Check]:
    """Check for accounts whose service lets us in no more; their people know, and only they can renew them."""
    revoked = await find_revoked(database)
    if not revoked:
        return []
    named = ", ".join(f"{account.service} of {account.tenant_id}" for account in revoked[:SHOWN])
    more = " …" if len(revoked) > SHOWN else ""
    detail = f"{len(revoked)} to be connected again by their people: {named}{more}"
    return [Check("accounts", True, detail, "`connect SERVICE --tenant TENANT` prints a link to pass on")]
