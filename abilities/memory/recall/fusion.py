"""The hits of all retrievers in a single order: by reciprocal rank, by the question's subject, and by time.

Whether a memory is recalled at all depends on their common certainty.
"""

from collections.abc import Mapping, Sequence
from math import prod

from abilities.memory.recall.question import Question
from abilities.memory.types import Hit, Memory, Recalled, RetrieverKind, RetrieverReport
from core.json_types import JsonObject

RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion: the larger, the less the second place differs from the first."""
WEIGHTS = {RetrieverKind.TEXT: 1.0, RetrieverKind.VECTOR: 0.5, RetrieverKind.STRUCTURED: 2.0}
"""Weight of each retriever: a small encoder is trusted least, knowledge most."""
ENOUGH = 0.75
"""The common certainty of the retrievers from which a memory is recalled that does not exactly answer the question."""
ASKED_FOR = 2.0
"""Factor for a memory of exactly the requested property, such as somebody's home."""
IN_TIME = 1.5
"""Factor for a memory of the time that the question names, or of the past if it asks for that."""


def fuse(
    memories: Mapping[str, Memory], reports: Sequence[RetrieverReport], question: Question, *, sure: bool
) -> list[Recalled]:
    """Return the memories in order, the most important first. `sure`: only those the retrievers are sure of."""
    ranks: dict[str, list[tuple[RetrieverKind, int, Hit]]] = {}
    for report in reports:
        for rank, hit in enumerate(report.hits, 1):
            ranks.setdefault(hit.memory_id, []).append((report.kind, rank, hit))
    recalled = []
    for memory in memories.values():
        ranked = ranks.get(memory.id, [])
        if not ranked or not belongs(memory, question):
            continue
        asked_for = says_what_is_asked(memory, question)
        if sure and not asked_for and certainty([hit for _, _, hit in ranked]) < ENOUGH:
            continue
        score = sum(WEIGHTS[kind] / (RANK_CONSTANT + rank) for kind, rank, _ in ranked)
        score *= (ASKED_FOR if asked_for else 1.0) * (IN_TIME if in_time(memory, question) else 1.0)
        recalled.append(Recalled(memory, score, tuple(kind for kind, _, _ in ranked)))
    return sorted(recalled, key=lambda hit: (-hit.score, -hit.memory.number))


def certainty(hits: Sequence[Hit]) -> float:
    """Return the common certainty of several independent retrievers: 0 to 1."""
    return 1 - prod(1 - hit.strength for hit in hits)


def belongs(memory: Memory, question: Question) -> bool:
    """Return whether a memory may be recalled: it holds, or the past is asked for, or it held at the time named."""
    if memory.valid_to is None or question.past:
        return True
    return question.period is not None and _held(memory, question)


def says_what_is_asked(memory: Memory, question: Question) -> bool:
    """Return whether a memory fills the requested slot of the person in question."""
    wanted = question.asked_slots
    if memory.slot in wanted:
        return True
    people = {*question.names, *question.relations}
    return any(name in wanted and owner in people for owner, name in _facets(memory.knowledge))


def in_time(memory: Memory, question: Question) -> bool:
    """Return whether a memory belongs to the time that a question names, or has ended if the past is asked for."""
    if question.period is None:
        return question.past and memory.valid_to is not None
    if memory.slot in question.asked_slots:
        return _held(memory, question)
    return question.period.start <= memory.said_at < question.period.end


def _held(memory: Memory, question: Question) -> bool:
    period = question.period
    if period is None or memory.valid_from >= period.end:
        return False
    return memory.valid_to is None or memory.valid_to > period.start


def _facets(knowledge: JsonObject) -> list[tuple[str, str]]:
    """Return (owner, name) of each facet in a statement's knowledge, in lower case."""
    entities = knowledge.get("entities")
    return [
        (str(entity.get("name")).lower(), str(facet.get("name")).lower())
        for entity in (entities if isinstance(entities, list) else ())
        if isinstance(entity, dict) and isinstance(facets := entity.get("facets"), list)
        for facet in facets
        if isinstance(facet, dict)
    ]
