"""Tool calls in the pool, which wait for an account or for the person's answer to a question."""

from collections.abc import Iterable, Mapping

from core import replies
from core.agents.pool_entry import PoolEnd, PoolEntry
from core.agents.standard_agent import AgentStatus
from core.agents.turn_agents import TurnAgents
from core.json_types import canonical_hash
from core.language.catalogue import gettext, gettext_noop
from core.loop.account_check import EarlierHold, HeldCall
from core.tools.account_argument import ACCOUNT

_OVER = {
    PoolEnd.EXPIRED: gettext_noop("Not done: no answer came in time, so it was dropped."),
    PoolEnd.STALE: gettext_noop("Not done: it has changed since it was begun, so it was set aside."),
    PoolEnd.DROPPED: gettext_noop("Not done: too much was waiting, so it was dropped."),
}
_NOT_CONNECTED = gettext_noop("Not done: no account was connected in time, so it was dropped.")


def over_text(entry: PoolEntry) -> str:
    """Return the tool result for a call or an agent that was dropped."""
    reason = entry.reason or PoolEnd.DROPPED
    if reason not in _OVER:
        return replies.CANCELLED
    late = reason is PoolEnd.EXPIRED and entry.needs
    return f"{gettext(_NOT_CONNECTED if late else _OVER[reason])}{replies.TELL_THEM}"


def earlier_holds(entries: Iterable[PoolEntry]) -> Mapping[str, EarlierHold]:
    """Return the tools' calls of a turn that waited when it stopped, by path."""
    return {
        entry.agent_path: EarlierHold(
            question=entry.question or "",
            needs=entry.needs,
            answers=entry.fields,
            over="" if entry.waits or entry.status is AgentStatus.COMPLETED else over_text(entry),
        )
        for entry in entries
        if entry.of_tool
    }


def held_entries(turn: TurnAgents) -> tuple[PoolEntry, ...]:
    """Return the entries of the tools' calls that wait now."""
    return tuple(_entry(turn, held, turn.entries.get(held.path)) for held in turn.scope.accounts.held.values())


def _entry(turn: TurnAgents, held: HeldCall, known: PoolEntry | None) -> PoolEntry:
    status = AgentStatus.WAITING_FOR_ACCOUNT if held.needs else AgentStatus.WAITING_FOR_INPUT
    same = known if known is not None and (known.question, known.status) == (held.question, status) else None
    return PoolEntry(
        agent_id=known.agent_id if known else f"agent_{canonical_hash([turn.scope.where.turn_id, held.path])[:26]}",
        agent_type=held.name,
        conversation_id=turn.conversation_id,
        turn_id=turn.scope.where.turn_id,
        agent_path=held.path,
        tool_call_id=held.tool_call_id,
        status=status,
        schema_version="",
        # The same question asked again does not give the person more time.
        expires_at=same.expires_at if same else turn.clock.now() + (turn.scope.accounts.patience or turn.limits.ttl),
        asked=(ACCOUNT,) if held.choices else tuple(asked.name for asked in held.asks),
        question=held.question,
        reminded=same is not None and same.reminded,
        revision=known.revision if known else 0,
        needs=held.needs,
        choices=held.choices,
        fields=known.fields if known else {},
        asks=(same.asks if same else ()) or held.asks,
    )
