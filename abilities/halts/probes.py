"""`doctor`'s check of whether all work is halted."""

from collections.abc import Sequence

from abilities.halts.halts import Halts
from core.db.database import Database
from core.messaging.channels import Check
from operations.doctor.types import Area, over_database


async def check_halt(database: Database) -> Sequence[Check]:
    """Check whether all work is halted."""
    halt = await Halts(database).now()
    if halt is None:
        return []
    detail = f"all work since {halt.at:%Y-%m-%d %H:%M:%S} UTC, by {halt.how}"
    return [Check("halted", False, detail, f"`lift`, or LIFT {halt.code} in an owner's chat")]


PROBES = (over_database(Area.WORK, "halted", check_halt),)
