"""A turn's path as the page draws it, found by a provider's id of a message."""

from core.db.database import Database
from core.json_types import JsonObject
from operations.paths.rows import find_turn
from operations.paths.turn_path import Span, TurnPath, read_path


async def path_of(database: Database, provider: str, about: str) -> JsonObject | None:
    """Return the path of a bubble's turn; None before the turn began, and if there is none."""
    for wanted in _ids(provider, about):
        found = await find_turn(database, wanted)
        if found is not None:
            tenant, turn = found
            async with database.tenant(tenant) as connection:
                return _shown(await read_path(connection, tenant, turn))
    return None


def _ids(provider: str, about: str) -> tuple[str, ...]:
    """Return the ids under which the assistant may know a message: Telegram counts in each chat."""
    if provider == "telegram":
        return f"message:{about}", about.rpartition(":")[2]
    return (about,)


def _shown(path: TurnPath) -> JsonObject:
    usage = path.usage
    return {
        "turn": path.turn_id,
        "state": path.state.value,
        "reason": path.reason,
        "attempts": path.attempts,
        "took_ms": round(path.took_ms, 1),
        "model_calls": path.model_calls,
        "tool_calls": path.tool_calls,
        "tokens": usage.total,
        "cost": None if usage.cost is None else round(float(usage.cost), 6),
        "running": path.finished_at is None,
        "spans": [_span(path, span) for span in path.spans],
    }


def _span(path: TurnPath, span: Span) -> JsonObject:
    begin, length = path.placed(span)
    return {
        "at": span.at.timestamp(),
        "took_ms": round((span.until - span.at).total_seconds() * 1000, 1),
        "begin": begin,
        "length": length,
        "kind": span.kind,
        "title": span.title,
        "note": span.note,
        "failed": span.failed,
        "depth": span.depth,
        "facts": [list(fact) for fact in span.facts],
        "texts": [list(text) for text in span.texts],
    }
