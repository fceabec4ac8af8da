"""The compared ways of recalling, and their results."""

import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from abilities.memory.momex import Momex
from abilities.memory.recall.search import Scope
from abilities.memory.types import RetrieverKind
from core.llm.types import ChatMessage, Role, estimate_tokens
from workbench.benchmarks.recall_lives import NOW, Asked, Line

type Way = Callable[[Asked, Sequence[Line]], Awaitable[tuple[list[str], float]]]

NOT_TOLD = ("unknown", "nearly known")
"""Kinds of questions that nothing answers."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The memories that a way returned for a question, the most important first, and its time in seconds."""

    asked: Asked
    texts: tuple[str, ...]
    took: float

    def hit(self, most: int) -> bool:
        """Return whether the answer is among the first `most`."""
        return any(self.asked.answer.lower() in text.lower() for text in self.texts[:most])

    def stale(self) -> bool:
        """Return whether the outdated answer is among the first five."""
        return any(self.asked.stale.lower() in text.lower() for text in self.texts[:5])


@dataclass(slots=True)
class Tally:
    """The results of a way of recalling."""

    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, asked: Asked, texts: Sequence[str], took: float) -> None:
        """Add an answer."""
        self.outcomes.append(Outcome(asked, tuple(texts), took))

    def of(self, *kinds: str) -> list[Outcome]:
        """Return those of some kinds of questions; of no kind: all that can be answered."""
        return [
            outcome
            for outcome in self.outcomes
            if (outcome.asked.kind in kinds if kinds else outcome.asked.kind not in NOT_TOLD)
        ]

    def within(self, lives: Iterable[int]) -> "Tally":
        """Return the results over some lives only."""
        return Tally([outcome for outcome in self.outcomes if outcome.asked.life in lives])

    def hit(self, most: int, *kinds: str) -> float:
        """Return the share of questions whose answer is among the first `most` results."""
        return share(outcome.hit(most) for outcome in self.of(*kinds))

    def answered(self, *kinds: str) -> float:
        """Return the share of questions for which anything was brought up."""
        return share(bool(outcome.texts) for outcome in self.of(*kinds))

    def stale(self) -> float:
        """Return how often the outdated answer is among the first five."""
        return share(outcome.stale() for outcome in self.outcomes if outcome.asked.stale)

    def tokens(self) -> float:
        """Return the average number of tokens that a question adds to a prompt."""
        return statistics.mean(tokens_of(outcome.texts) for outcome in self.outcomes)

    def cells(self, kinds: Sequence[str]) -> list[str]:
        """Write it as the cells of a table, without the name; shares are in per cent."""
        times = sorted(outcome.took * 1000 for outcome in self.outcomes)
        shown = [kind for kind in kinds if kind not in NOT_TOLD]
        untold = [kind for kind in kinds if kind in NOT_TOLD]
        shares = [self.hit(1), self.hit(5), *(self.hit(5, kind) for kind in shown), self.stale()]
        shares += [self.answered(kind) for kind in untold]
        rest = [self.tokens(), statistics.median(times), times[int(len(times) * 0.95)]]
        return [f"{100 * share:.0f}" for share in shares] + [f"{value:.0f}" for value in rest]


def share(values: Iterable[bool]) -> float:
    """Return the share of true values, from 0 to 1."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def tokens_of(texts: Sequence[str]) -> int:
    """Return the tokens that some lines add to a prompt."""
    return sum(estimate_tokens((ChatMessage(Role.USER, text),)) for text in texts)


def table(tallies: dict[str, Tally]) -> list[str]:
    """Return the lines of a table, a line for each way."""
    kinds = list(dict.fromkeys(outcome.asked.kind for tally in tallies.values() for outcome in tally.outcomes))
    shown = [kind for kind in kinds if kind not in NOT_TOLD]
    untold = [f"answered when {kind}" for kind in kinds if kind in NOT_TOLD]
    head = ["way", "hit@1", "hit@5", *shown, "stale in 5", *untold, "tokens", "p50 ms", "p95 ms"]
    rows = [[name, *tally.cells(kinds)] for name, tally in tallies.items()]
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def misses(tally: Tally, most: int = 1) -> list[str]:
    """Return a way's misses: questions whose answer is not among its first, or was found though never stated."""
    return [
        f"{outcome.asked.kind} · life {outcome.asked.life} · {outcome.asked.text}"
        f" · {outcome.asked.answer or '(never told)'} · got: {' / '.join(outcome.texts[:3]) or 'nothing'}"
        for outcome in tally.outcomes
        if (bool(outcome.texts) if outcome.asked.kind in NOT_TOLD else not outcome.hit(most))
    ]


def ways(momex: Momex, *, embedded_anew: bool = True) -> dict[str, Way]:
    """Return every way of recalling that is compared; `embedded_anew`: no question's vector is remembered."""
    patient = replace(momex.retriever, config=replace(momex.config, patience=30.0))

    async def nothing(asked: Asked, lines: Sequence[Line]) -> tuple[list[str], float]:
        return [], 0.0

    async def last(asked: Asked, lines: Sequence[Line]) -> tuple[list[str], float]:
        return [line.text for line in reversed(lines[-20:])], 0.0

    def by(*kinds: RetrieverKind, sure: bool = True) -> Way:
        retriever = replace(patient, kinds=frozenset(kinds))

        async def search(asked: Asked, lines: Sequence[Line]) -> tuple[list[str], float]:
            if embedded_anew:
                momex.embedder.clear()
            began = time.monotonic()
            recall = await retriever.search(Scope(f"life{asked.life}"), asked.text, NOW, sure=sure)
            return list(recall.lines()), time.monotonic() - began

        return search

    return {
        "no memory": nothing,
        "last 20 messages": last,
        "pgvector only, no bar": by(RetrieverKind.VECTOR, sure=False),
        "full text only, no bar": by(RetrieverKind.TEXT, sure=False),
        "typeagent only, no bar": by(RetrieverKind.STRUCTURED, sure=False),
        "pgvector only": by(RetrieverKind.VECTOR),
        "full text only": by(RetrieverKind.TEXT),
        "typeagent only": by(RetrieverKind.STRUCTURED),
        "fused without typeagent": by(RetrieverKind.TEXT, RetrieverKind.VECTOR),
        "fused": by(*RetrieverKind),
    }
