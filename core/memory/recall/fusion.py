"""What the legs found, put into one order: by reciprocal rank, by what the question asks for, and by time.

How sure they are, taken together, says whether a memory is brought up at all.
"""

from collections.abc import Mapping, Sequence
from math import prod

from core.json_types import JsonObject
from core.memory.recall.question import Question
from core.memory.types import Hit, Leg, LegReport, Memory, Recalled

RANK_CONSTANT = 60
"""Of reciprocal rank fusion: how much less the second place counts than the first."""
WEIGHTS = {Leg.TEXT: 1.0, Leg.VECTOR: 0.5, Leg.STRUCTURED: 2.0}
"""What a place in each leg counts: a small encoder is the least to be trusted, knowledge the most."""
ENOUGH = 0.75
"""How sure the legs must be, taken together, for a memory to be brought up that is not just what was asked for."""
ASKED_FOR = 2.0
"""How much more a memory counts that says just what the question asks for, such as somebody's home."""
IN_TIME = 1.5
"""How much more one counts that belongs to the time which the question names, or to the past that it asks for."""


def fused(
    memories: Mapping[str, Memory], reports: Sequence[LegReport], question: Question, *, sure: bool
) -> list[Recalled]:
    """Put what was found in order, the most important first. `sure`: only what the legs are sure of."""
    places: dict[str, list[tuple[Leg, int, Hit]]] = {}
    for report in reports:
        for place, hit in enumerate(report.hits, 1):
            places.setdefault(hit.memory_id, []).append((report.leg, place, hit))
    found = []
    for memory in memories.values():
        at = places.get(memory.id, [])
        if not at or not belongs(memory, question):
            continue
        asked_for = says_what_is_asked(memory, question)
        if sure and not asked_for and certainty([hit for _, _, hit in at]) < ENOUGH:
            continue
        score = sum(WEIGHTS[leg] / (RANK_CONSTANT + place) for leg, place, _ in at)
        score *= (ASKED_FOR if asked_for else 1.0) * (IN_TIME if in_time(memory, question) else 1.0)
        found.append(Recalled(memory, score, tuple(leg for leg, _, _ in at)))
    return sorted(found, key=lambda one: (-one.score, -one.memory.number))


def certainty(hits: Sequence[Hit]) -> float:
    """Return how sure several legs are together, each by itself and none knowing of the others: 0 to 1."""
    return 1 - prod(1 - hit.strength for hit in hits)


def belongs(memory: Memory, question: Question) -> bool:
    """Return whether a memory may be told: it holds, or what was is asked for, or it held at the time named."""
    if memory.valid_to is None or question.past:
        return True
    return question.period is not None and _held(memory, question)


def says_what_is_asked(memory: Memory, question: Question) -> bool:
    """Return whether a memory fills the very slot that the question asks for, of the very person."""
    wanted = question.asked_slots
    if memory.slot in wanted:
        return True
    people = {*question.names, *question.relations}
    return any(name in wanted and owner in people for owner, name in _facets(memory.knowledge))


def in_time(memory: Memory, question: Question) -> bool:
    """Return whether a memory belongs to the time that a question names, or has ended where the past is asked for."""
    if question.period is None:
        return question.past and memory.valid_to is not None
    if memory.slot in question.asked_slots:
        return _held(memory, question)
    return question.period.start <= memory.said_at < question.period.end


def _held(memory: Memory, question: Question) -> bool:
    period = question.period
    return period is not None and memory.valid_from < period.end and (
        memory.valid_to is None or memory.valid_to > period.start
    )  # fmt: skip


def _facets(knowledge: JsonObject) -> list[tuple[str, str]]:
    """Return whose facets of which name stand in the knowledge of a statement, in lower case."""
    entities = knowledge.get("entities")
    return [
        (str(entity.get("name")).lower(), str(facet.get("name")).lower())
        for entity in (entities if isinstance(entities, list) else ())
        if isinstance(entity, dict) and isinstance(facets := entity.get("facets"), list)
        for facet in facets
        if isinstance(facet, dict)
    ]
