"""Overload: how much runs at once, how much may wait, and what people are told past that."""

from dataclasses import dataclass

from core.language.catalogue import gettext, gettext_noop, speaking

MAX_LANES_PER_TENANT = 4
"""How many lanes of one person run at once; the others wait, so that nobody keeps everybody else waiting."""
BUSY = gettext_noop(
    "Too many messages are waiting here just now. This one, and what you send in the next minutes, may get no answer: "
    "please send it again later."
)
FULL = gettext_noop(
    "I have {number} of your messages waiting and can take no more for now. This one, and what you send before I have "
    "caught up, gets no answer: please send it again later."
)


@dataclass(frozen=True, slots=True)
class BacklogLimits:
    """How many messages may wait for their turn: one person's, and all people's together."""

    of_person: int = 100
    of_all: int = 10_000

    def refusal(self, *, full: bool, language: str | None = None) -> str:
        """Return the sentence for a person whose backlog is full, or else for one of too many who wait."""
        with speaking(language):
            return gettext(FULL, number=self.of_person) if full else gettext(BUSY)
