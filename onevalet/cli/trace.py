"""`trace ID`: the path of a message, as lines."""

from datetime import datetime

from onevalet.cli.runner import say, say_json
from onevalet.cli.session import open_database
from onevalet.settings import Settings
from operations.paths.trace import trace


async def print_trace(settings: Settings, wanted: str, *, as_json: bool) -> None:
    """Print every known step of the path, in order of time: ids and states, never text."""
    async with open_database(settings, "trace") as database:
        lines = await trace(database, wanted)
    if as_json:
        say_json(lines)
        return
    first = lines[0]["at"]
    for line in lines:
        rest = "  ".join(f"{key}={value}" for key, value in line.items() if key not in ("at", "what") and value)
        say(f"{_after(first, line['at']):>10}  {line['what']:<12}  {rest}")


def _after(first: object, at: object) -> str:
    if isinstance(first, datetime) and isinstance(at, datetime):
        return f"+{(at - first).total_seconds():.3f}s"
    return ""
