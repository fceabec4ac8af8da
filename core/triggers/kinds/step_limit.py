"""How much work one evaluation may take, counted in steps: all that people and models wrote is bounded by it."""

from core.json_types import Json
from core.triggers.kinds.schedule import TriggerError

MAX_STEPS = 200_000
"""Of a look: places of the data that are visited and parts of an expression, together."""
FILTER_STEPS = 20_000
"""Of one event filter."""
CHARACTERS = 64
"""So many characters of text are one step: they are compared and searched far faster than places are visited."""


class Steps:
    """Count the steps of one evaluation. Every loop over what somebody else wrote takes its steps here."""

    def __init__(self, most: int = MAX_STEPS) -> None:
        self._most = most
        self.taken = 0

    def take(self, count: int = 1) -> None:
        """Take steps; raises `TriggerError` when there are none left."""
        self.taken += count
        if self.taken > self._most:
            raise TriggerError("That takes too much work: name less with the path, or make the expression simpler.")

    def walk(self, value: Json) -> None:
        """Take as many steps as a value is large."""
        waiting: list[Json] = [value]
        while waiting:
            one = waiting.pop()
            self.take()
            if isinstance(one, str):
                self.take(len(one) // CHARACTERS)
            elif isinstance(one, dict):
                waiting += one.values()
            elif isinstance(one, list):
                waiting += one
