"""`halt` and `lift` as an operator types them."""

from abilities.halts.halts import Halts
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import open_database
from onevalet.settings import Settings


async def halt(settings: Settings, *, as_json: bool = False) -> None:
    """Halt all work, and print how it is lifted."""
    async with open_database(settings, "halt") as database:
        begun = await Halts(database).begin()
    if as_json:
        say_json({"halted": True, "since": begun.at.isoformat(), "code": begun.code})
        return
    since = f"{begun.at:%Y-%m-%d %H:%M:%S}"
    say(f"All work is halted since {since} UTC. To let it go on: `lift` here, or LIFT {begun.code} in an owner's chat.")


async def lift(settings: Settings, *, as_json: bool = False) -> None:
    """Resume all work, and print whether it was halted."""
    async with open_database(settings, "lift") as database:
        lifted = await Halts(database).lift()
    if as_json:
        say_json({"halted": False, "lifted": lifted})
    else:
        say("Work goes on." if lifted else "Nothing was halted.")
