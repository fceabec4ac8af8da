"""Long answers on channels that are billed: held back until their person has chosen how they come."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from core.messaging.calls import Rendered
from core.messaging.capabilities import Dividing
from core.messaging.channels import Part
from core.messaging.due_messages import Claim, DueMessage
from core.messaging.messages import OutboundMessage

FEW = 3
"""Segments of an answer that is never held back."""

type Portions = Callable[[int | None, Callable[[OutboundMessage], OutboundMessage]], Sequence[Part]]
"""Renders a message, once changed, as a whole or with a first portion of at most this number of segments."""


@dataclass(frozen=True, slots=True)
class Holding:
    """Decide about long answers; an ability opens it.

    `parts_of` returns the parts of an answer: as they are, or a question, and the answer as further portions. It is
    repeatable, and raises `LeaseLost`.
    """

    parts_of: Callable[[Claim, DueMessage, Dividing, Rendered, Portions], Awaitable[Rendered]]


def may_be_held(rendered: Rendered) -> bool:
    """Return whether an answer may have more than a few segments; nobody is asked about any other."""
    return bool(rendered.parts) and len(rendered.parts) + rendered.parts[0].segments > FEW + 1
