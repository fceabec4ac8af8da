"""Waiting agents in a turn: its messages may answer them, and its end tells of them and changes their entries."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.agents.asking_tool import AskingTool
from core.agents.pending_answers import ANSWER, HOLD, Asker, PendingAnswers
from core.agents.pool_entry import PoolEnd, PoolEntry
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentStatus
from core.agents.turn_agents import PoolLimits, nesting
from core.ids import for_person, new_token
from core.journal.types import Outcome
from core.language.catalogue import gettext, gettext_noop
from core.loop.result import Ended, ReactLoopResult
from core.questions.types import AskedOf
from core.questions.wording import in_words, last_key, with_keys
from core.replies import without_notes
from core.tools.results import CallResult
from core.turns.context import TurnContext
from core.turns.decide_tool import open_to_words
from core.turns.types import TurnRequest, TurnResult, TurnState

SET_ASIDE = gettext_noop(
    "I had to set something aside that was waiting for you, because it has changed since ({names})."
)
DROPPED = gettext_noop("Too much is waiting for you, so I have dropped the oldest ({names}); ask me for it again.")
STILL_ASKED = gettext_noop("By the way, I still need to know:{gap}{question}")


@dataclass(frozen=True, slots=True)
class Stopped:
    """The output of a turn that waits: the words to say now, and the pool's changes."""

    text: str
    entries: tuple[PoolEntry, ...]
    notice: str = ""
    """Sent as it is, below the text."""
    links: str = ""
    """The addresses where accounts are connected: sent as they are."""
    asks: str = ""
    """Questions with their choices in words: sent as they are."""
    cards: tuple[AskedOf, ...] = ()
    """Questions with their choices as buttons."""


_NOT_ASKED = (AgentStatus.WAITING_FOR_APPROVAL, AgentStatus.WAITING_FOR_ACCOUNT)
"""A card asks for an approval, a link for an account; both end by themselves."""
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
    """Return the news since the turn last stopped: results of answers, and questions; drop the oldest agents.

    `silent` are the paths of calls whose question is not said again.
    """
    own = {entry.agent_id: entry for entry in request.kept.pool if entry.turn_id == request.turn_id}
    now = {entry.agent_id: entry for entry in waiting}
    done = [entry for entry in own.values() if entry.agent_id not in now]
    completed = (entry.completed() for entry in done if entry.waits)
    answers = [text for entry in done if (text := _came_to(entry, result.stopped_at))]
    new = {
        entry.agent_id
        for entry in waiting
        if entry.question is not None
        and entry.status not in _NOT_ASKED
        and (not (known := own.get(entry.agent_id)) or known.question != entry.question)
    }
    waiting = chosen_from(request, waiting, new)
    asking = [entry for entry in waiting if entry.agent_id in new]
    asks, cards = _asks(request, [entry for entry in asking if entry.asks])
    plain = [
        asked.text for entry in asking if request.place.has_buttons for asked in entry.asks if not asked.has_choices
    ]
    asked = [*(entry.question or "" for entry in asking if not entry.asks), *plain]
    links = [
        entry.question
        for entry in waiting
        if entry.question is not None
        and entry.status is AgentStatus.WAITING_FOR_ACCOUNT
        and entry.agent_path not in silent
    ]
    others = [
        entry
        for entry in request.kept.pool
        if entry.waits and entry.turn_id != request.turn_id and entry.status not in _NOT_ASKED
    ]
    excess = others[: max(len(others) + len(now) - limits.max_waiting, 0)]
    return Stopped(
        "\n".join([*answers, *asked]),
        (*waiting, *completed, *(entry.ended(PoolEnd.DROPPED) for entry in excess)),
        gettext(DROPPED, names=_names(excess)) if excess else "",
        "\n".join(dict.fromkeys(links)),
        asks,
        cards,
    )


def chosen_from(request: TurnRequest, waiting: Sequence[PoolEntry], new: Collection[str]) -> tuple[PoolEntry, ...]:
    """Return the waiting entries; number the choices of new questions after those already in use."""
    here = (entry for entry in (*request.kept.pool, *waiting) if entry.conversation_id == request.place.conversation_id)
    taken = last_key([asked for entry in here if entry.waits and entry.agent_id not in new for asked in entry.asks])
    keyed = list[PoolEntry]()
    for entry in waiting:
        if entry.agent_id in new and entry.asks:
            asks = with_keys(entry.asks, taken)
            taken = max(taken, last_key(asks))
            entry = replace(entry, asks=asks)
        keyed.append(entry)
    return tuple(keyed)


def _asks(request: TurnRequest, entries: Sequence[PoolEntry]) -> tuple[str, tuple[AskedOf, ...]]:
    """Return new questions in words, or as cards if the channel has buttons."""
    if not request.place.has_buttons:
        return in_words([asked for entry in entries for asked in entry.asks]), ()
    pressable = [(entry.agent_id, asked) for entry in entries for asked in entry.asks if asked.has_choices]
    return "", tuple(AskedOf(asked, agent, for_person(request.tenant.id, new_token())) for agent, asked in pressable)


def reminder(waiting: PendingAnswers, result: ReactLoopResult) -> str:
    """Remind the person, once, of an open question after they were answered something else."""
    if result.ended is not Ended.ANSWERED or any(call.name in (ANSWER, HOLD) for call in result.tool_calls):
        return ""
    question = waiting.remind()
    if not question:
        return ""
    return gettext(STILL_ASKED, gap="\n" if "\n" in question else " ", question=question)


def notice(waiting: PendingAnswers) -> str:
    """Return the notice about agents that cannot go on; empty if there are none."""
    return gettext(SET_ASIDE, names=", ".join(dict.fromkeys(waiting.set_aside))) if waiting.set_aside else ""


def answered_plainly(request: TurnRequest, context: TurnContext) -> TurnResult | None:
    """Return the result of a turn whose message answers a waiting entry; None if the loop has to look."""
    if not context.waiting.offered:
        return None
    # Words may as well be about an action that waits for approval.
    by_words = not open_to_words(request, request.kept.approvals)
    taken = context.waiting.answer_exactly(request.inbound, by_words=by_words)
    plainly = context.waiting.answer_plainly(request.inbound) if by_words and not taken else None
    taken = (plainly,) if plainly is not None else taken
    if not taken:
        return None
    reply, entries = notice(context.waiting), context.waiting.entries
    return TurnResult(TurnState.DONE, reply, answered(taken), history=context.said, pool=entries)


def waits_here(request: TurnRequest) -> bool:
    """Return whether an agent waits for the person's input in this conversation."""
    return any(
        entry.conversation_id == request.place.conversation_id and entry.status is AgentStatus.WAITING_FOR_INPUT
        for entry in request.kept.pool
    )


def answered(entries: Sequence[PoolEntry]) -> str:
    """Return the reason why nothing is said: the turns that were answered say it. `client_answer` reads it, too."""
    return f"answer to {', '.join(dict.fromkeys(entry.turn_id for entry in entries))}"


def _came_to(entry: PoolEntry, results: Sequence[CallResult]) -> str:
    """Return the result of an agent that has ended while others wait; empty for an agent inside another."""
    if nesting(entry.agent_path) > 1 or (entry.of_tool and entry.waits):
        return ""  # a tool's result is for the model
    if not entry.waits:
        return gettext(_PLAINLY[entry.reason]) if entry.reason in _PLAINLY else ""
    returned = (result for result in results if result.call.id == entry.tool_call_id and result.outcome is Outcome.OK)
    return next((without_notes(result.text) for result in returned), "")


def _names(entries: Sequence[PoolEntry]) -> str:
    return ", ".join(dict.fromkeys(entry.told_as for entry in entries))


def _asking(entry: PoolEntry, registry: AgentRegistry) -> Asker | None:
    if entry.of_tool:
        return AskingTool(entry.agent_type, entry.choices, entry.asks)
    return registry.find(entry.agent_type)


def pending_in(request: TurnRequest, registry: AgentRegistry, now: datetime) -> PendingAnswers:
    """Find the agents whose answer this turn's messages may be: the same conversation's, and a person's own."""
    # Words that were changed after they were sent, or said in a group, answer nothing.
    powerless = [message for message in request.inbound if message.points and message.powerless]
    if not request.inbound or not request.place.conversation_id or powerless:
        return PendingAnswers()
    offered: list[tuple[PoolEntry, Asker]] = []
    ended: dict[str, PoolEntry] = {}
    set_aside: list[str] = []
    paused: list[tuple[PoolEntry, Asker]] = []
    accounts: list[PoolEntry] = []
    for entry in request.kept.pool:
        if entry.conversation_id != request.place.conversation_id or not entry.waits:
            continue
        if entry.status is AgentStatus.WAITING_FOR_ACCOUNT and entry.expires_at > now:
            accounts.append(entry)
            continue
        valet = _asking(entry, registry)
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
