"""What a turn's end means for the agents that wait: what is said, and what the pool keeps."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.agents.asking_tool import AskingTool
from core.agents.pending_answers import ANSWER, HOLD, Asking, PendingAnswers
from core.agents.pool_entry import PoolEnd, PoolEntry
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentStatus
from core.agents.turn_agents import PoolLimits, nesting
from core.journal.types import Outcome
from core.language.catalogue import gettext, gettext_noop
from core.loop.result import Ended, ReactLoopResult
from core.replies import without_notes
from core.tools.results import CallResult
from core.turns.types import TurnRequest

SET_ASIDE = gettext_noop(
    "I had to set something aside that was waiting for you, because it has changed since ({names})."
)
DROPPED = gettext_noop(
    "So much is waiting for you that I have dropped what waited longest ({names}); ask me for it again."
)
STILL_ASKED = gettext_noop("By the way, I still need to know:{gap}{question}")


@dataclass(frozen=True, slots=True)
class Stopped:
    """What a turn that waits leaves behind: what is to be said now, and the pool's changes."""

    text: str
    entries: tuple[PoolEntry, ...]
    notice: str = ""
    """Said as it is, below the text."""
    links: str = ""
    """Where accounts are connected: said as it is."""


_NOT_ASKED = (AgentStatus.WAITING_FOR_APPROVAL, AgentStatus.WAITING_FOR_ACCOUNT)
"""A card asks for the one, a link for the other; both end by themselves."""
_PLAINLY = {
    PoolEnd.CANCELLED: gettext_noop("That is cancelled."),
    PoolEnd.EXPIRED: gettext_noop("No answer came in time, so I dropped that."),
}


def stopped(
    request: TurnRequest,
    result: ReactLoopResult,
    waiting: Sequence[PoolEntry],
    limits: PoolLimits,
    silent: Collection[str] = (),
) -> Stopped:
    """Return what is new since the turn last stopped: what came of answers, and questions; and let go of the oldest.

    `silent` are the paths of calls whose question is not said again.
    """
    own = {entry.agent_id: entry for entry in request.pool if entry.turn_id == request.turn_id}
    now = {entry.agent_id: entry for entry in waiting}
    done = [entry for entry in own.values() if entry.agent_id not in now]
    completed = (entry.completed() for entry in done if entry.waits)
    answers = [text for entry in done if (text := _came_to(entry, result.stopped_at))]
    asked = [
        entry.question
        for entry in waiting
        if entry.question is not None
        and entry.status not in _NOT_ASKED
        and (not (known := own.get(entry.agent_id)) or known.question != entry.question)
    ]
    links = [
        entry.question
        for entry in waiting
        if entry.question is not None
        and entry.status is AgentStatus.WAITING_FOR_ACCOUNT
        and entry.agent_path not in silent
    ]
    others = [
        entry
        for entry in request.pool
        if entry.waits and entry.turn_id != request.turn_id and entry.status not in _NOT_ASKED
    ]
    excess = others[: max(len(others) + len(now) - limits.max_waiting, 0)]
    return Stopped(
        "\n".join([*answers, *asked]),
        (*waiting, *completed, *(entry.ended(PoolEnd.DROPPED) for entry in excess)),
        gettext(DROPPED, names=_names(excess)) if excess else "",
        "\n".join(dict.fromkeys(links)),
    )


def reminder(waiting: PendingAnswers, result: ReactLoopResult) -> str:
    """Remind the person, once, of what they were asked, when they were answered something else."""
    if result.ended is not Ended.ANSWERED or any(call.name in (ANSWER, HOLD) for call in result.tool_calls):
        return ""
    question = waiting.remind()
    if not question:
        return ""
    return gettext(STILL_ASKED, gap="\n" if "\n" in question else " ", question=question)


def notice(waiting: PendingAnswers) -> str:
    """Return the notice about agents that cannot go on; empty if there are none."""
    return gettext(SET_ASIDE, names=", ".join(dict.fromkeys(waiting.set_aside))) if waiting.set_aside else ""


def answered(entries: Sequence[PoolEntry]) -> str:
    """Return the reason why nothing is said: the turns that were answered say it."""
    return f"answer to {', '.join(dict.fromkeys(entry.turn_id for entry in entries))}"


def _came_to(entry: PoolEntry, results: Sequence[CallResult]) -> str:
    """Return the result of an agent that has ended while others wait; empty for one inside another."""
    if nesting(entry.agent_path) > 1 or (entry.of_tool and entry.waits):
        return ""  # what a tool returns is for the model
    if not entry.waits:
        return gettext(_PLAINLY[entry.reason]) if entry.reason in _PLAINLY else ""
    returned = (result for result in results if result.call.id == entry.tool_call_id and result.outcome is Outcome.OK)
    return next((without_notes(result.text) for result in returned), "")


def _names(entries: Sequence[PoolEntry]) -> str:
    return ", ".join(dict.fromkeys(entry.told_as for entry in entries))


def pending_in(request: TurnRequest, registry: AgentRegistry, now: datetime) -> PendingAnswers:
    """Find who waits for an answer that this turn's messages may be: the same conversation's, and a person's own."""
    if not request.inbound or not request.conversation_id:
        return PendingAnswers()
    offered: list[tuple[PoolEntry, Asking]] = []
    ended: dict[str, PoolEntry] = {}
    set_aside: list[str] = []
    paused: list[tuple[PoolEntry, Asking]] = []
    accounts: list[PoolEntry] = []
    for entry in request.pool:
        if entry.conversation_id != request.conversation_id or not entry.waits:
            continue
        if entry.status is AgentStatus.WAITING_FOR_ACCOUNT and entry.expires_at > now:
            accounts.append(entry)
            continue
        valet = AskingTool(entry.agent_type, entry.choices) if entry.of_tool else registry.find(entry.agent_type)
        if valet is None or valet.schema_version != entry.schema_version:
            ended[entry.agent_id] = entry.ended(PoolEnd.STALE)
            set_aside.append(entry.told_as)
        elif entry.expires_at <= now:
            ended[entry.agent_id] = entry.ended(PoolEnd.EXPIRED)
        elif entry.status is AgentStatus.WAITING_FOR_INPUT and not entry.wakes:
            offered.append((entry, valet))
        elif entry.status is AgentStatus.PAUSED:
            paused.append((entry, valet))
    return PendingAnswers(tuple(offered), {}, ended, tuple(set_aside), tuple(paused), tuple(accounts))
