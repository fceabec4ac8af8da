"""The files that a turn's calls attach to its reply. The journal keeps their ids with each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.journal.types import Outcome, StepKey, StepRecord
from core.json_types import JsonObject

_FILES = "files"


@dataclass(slots=True)
class TurnFiles:
    """What is attached in one turn, in its own loop and in those of its agents: each file once."""

    _calls: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The call of the turn's own loop to which each file belongs: its step and its number."""

    def begin(self, recorded: Mapping[StepKey, StepRecord]) -> None:
        """Take in what the journal holds."""
        for record in recorded.values():
            files = record.result.get(_FILES)
            if record.outcome is Outcome.OK and isinstance(files, list):
                self._take(record.key, [str(file) for file in files])

    def note(self, key: StepKey, files: Sequence[str], result: JsonObject) -> None:
        """Take in what a call attached, and write it into the result that the journal gets."""
        if files:
            result[_FILES] = list(files)
            self._take(key, files)

    def _take(self, key: StepKey, files: Sequence[str]) -> None:
        for file in files:
            self._calls.setdefault(file, _own_call(key))

    def due(self, begin: int, end: int | None) -> list[str]:
        """Return the files of the steps from `begin` to before `end`, in the order of the calls."""
        ranked = sorted(self._calls.items(), key=lambda item: item[1])
        return [file for file, (step, _) in ranked if begin <= step and (end is None or step < end)]


def _own_call(key: StepKey) -> tuple[int, int]:
    """Return the step and the number of the call in the turn's own loop, such as 2 and 1 of "2.1/NotesAgent"."""
    if not key.agent_path:
        return key.step, key.call_index
    step, _, number = key.agent_path.partition("/")[0].partition(".")
    return int(step), int(number)
