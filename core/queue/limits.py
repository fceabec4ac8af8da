"""Overload: limits on running and waiting work, and the sentences for people whose messages are refused."""

from dataclasses import dataclass

from core.language.catalogue import gettext, gettext_noop, speaking

MAX_LANES_PER_TENANT = 4
"""Lanes of a person that run at once. The others wait, so that nobody can delay everybody else."""
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
    """The limits on waiting messages: of a person, and of all people together."""

    of_person: int = 100
    of_all: int = 10_000

    def refusal(self, *, full: bool, language: str | None = None) -> str:
        """Return the sentence for a refused message. `full`: the person's own backlog is full, not that of all."""
        with speaking(language):
            return gettext(FULL, number=self.of_person) if full else gettext(BUSY)
