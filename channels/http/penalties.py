"""The limit of a source's bad requests: counted in this process, cheaply, and apart from good requests.

Good requests are never counted. Bad requests with one of our proofs (`channels.http.connections`) are counted by that
proof, not by their source: behind a proxy all requests share a source, and a sender of rubbish must not shut out the
others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

BAD_A_MINUTE = 300
BAD_OF_A_PROOF = 60
"""Refusals a minute of a single link, session or token that we issued and that is no longer valid."""
SOURCES = 10_000
"""Number of sources told apart within a minute; further sources are counted together."""

_OTHERS = ""


@dataclass(slots=True)
class _Window:
    began: float
    count: int = 0


class BadRequests:
    """Count refusals per minute: by proof for requests with a proof, else by source."""

    def __init__(
        self, a_minute: int = BAD_A_MINUTE, now: Callable[[], float] = monotonic, *, of_a_proof: int = BAD_OF_A_PROOF
    ) -> None:
        self._a_minute = a_minute
        self._of_a_proof = of_a_proof
        self._now = now
        self._windows: dict[str, _Window] = {}
        self._swept = now()

    def is_beyond(self, source: str, proof: str = "") -> bool:
        """Return whether the limit is used up, for this minute; nothing is counted."""
        key = self._key(source, proof)
        window = self._windows.get(key)
        if window is None and len(self._windows) >= SOURCES:
            window = self._windows.get(_OTHERS)
        return window is not None and self._now() - window.began < 60 and window.count >= self._limit(proof)

    def count(self, source: str, proof: str = "") -> int:
        """Count a refusal; return by how many this source, or proof, exceeds the limit, 0 within it."""
        now = self._now()
        source = self._key(source, proof)
        if now - self._swept >= 60:
            self._windows = {name: window for name, window in self._windows.items() if now - window.began < 60}
            self._swept = now
        if source not in self._windows and len(self._windows) >= SOURCES:
            source = _OTHERS
        window = self._windows.setdefault(source, _Window(now))
        if now - window.began >= 60:
            window.began, window.count = now, 0
        window.count += 1
        return max(0, window.count - self._limit(proof))

    def _limit(self, proof: str) -> int:
        return self._of_a_proof if proof else self._a_minute

    def _key(self, source: str, proof: str) -> str:
        return f"proof {proof}" if proof else source
