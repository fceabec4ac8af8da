"""The limit of work for an evaluation, in steps: it bounds everything that people and models wrote."""

from abilities.tasks.kinds.schedule import TriggerError
from core.json_types import Json
from core.language.catalogue import gettext

MAX_STEPS = 200_000
"""Steps of a look: visited nodes of the data and parts of expressions together."""
FILTER_STEPS = 20_000
"""Steps of an event filter."""
CHARACTERS = 64
"""Characters of text in a step: comparing text is much faster than visiting nodes."""


class Steps:
    """The steps of an evaluation. Every loop over foreign data takes its steps here."""

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self._limit = limit
        self.taken = 0

    def take(self, count: int = 1) -> None:
        """Take steps; raises `TriggerError` when there are none left."""
        self.taken += count
        if self.taken > self._limit:
            raise TriggerError(
                gettext("That takes too much work: name less with the path, or make the expression simpler.")
            )

    def walk(self, value: Json) -> None:
        """Take as many steps as a value has nodes and portions of text."""
        waiting: list[Json] = [value]
        while waiting:
            node = waiting.pop()
            self.take()
            if isinstance(node, str):
                self.take(len(node) // CHARACTERS)
            elif isinstance(node, dict):
                waiting += node.values()
            elif isinstance(node, list):
                waiting += node
