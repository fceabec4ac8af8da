"""Where lines are changed: the pure rooms, and all rooms of the product by their lines."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.mutants.line_map import ROOMS
from tests.mutants.operators import Edit, Mutant, edits_of, mutant_of
from tests.shipping.harness import ROOT, python_files

type Edits = Mapping[int, Sequence[Edit]]
"""What could be changed in a file, by line."""


@dataclass(frozen=True, slots=True)
class Room:
    """Modules, as patterns of paths, and the folders of the tests that are theirs."""

    modules: Sequence[str]
    tests: Sequence[str]


PURE: Mapping[str, Room] = {
    "parse": Room(["channels/*/parse.py"], ["tests/channels"]),
    "render": Room(
        ["notify/*/render.py", "notify/markdown*.py", "notify/*/markdown.py", "notify/plain_markdown.py"],
        ["tests/notify"],
    ),
    "split": Room(["notify/text_split.py", "notify/slack/split.py", "notify/sms/render.py"], ["tests/notify"]),
    "schedule": Room(
        ["abilities/tasks/kinds/*schedule*.py", "abilities/tasks/kinds/bounds.py"], ["tests/abilities/tasks"]
    ),
    "rules": Room(["abilities/rules/rules*.py"], ["tests/abilities/rules"]),
    "moments": Room(
        ["core/language/times.py", "abilities/moments/moments.py", "abilities/memory/recall/time_expressions.py"],
        ["tests/core/language", "tests/abilities/moments", "tests/abilities/memory"],
    ),
    "seal": Room(["core/approvals/seal.py"], ["tests/core/approvals", "tests/approvals"]),
    "shape": Room(["core/consents/shape.py"], ["tests/core/consents"]),
}
"""Functions of values, with no store and no provider: nearly every change of theirs should fail a test."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A mutant, its room, and the folders of the room's tests."""

    room: str
    mutant: Mutant
    tests: Sequence[str]


def of_pure_rooms(names: Iterable[str], each: int, seed: int) -> list[Chosen]:
    """Choose lines of each room by its name."""
    chosen: list[Chosen] = []
    for name in names:
        room = PURE[name]
        files = sorted(path.relative_to(ROOT).as_posix() for pattern in room.modules for path in ROOT.glob(pattern))
        mutants = _some(_edits(files), each, random.Random(f"{seed} {name}"))
        chosen += [Chosen(name, mutant, room.tests) for mutant in mutants]
    return chosen


def anywhere(most: int, seed: int) -> list[Chosen]:
    """Choose lines of the whole product; each room has as many as its share of the lines."""
    by_room: dict[str, dict[str, Edits]] = {}
    for path, edits in _edits(python_files(*ROOMS)).items():
        by_room.setdefault(room_of(path), {})[path] = edits
    lines = {room: sum(map(len, files.values())) for room, files in by_room.items()}
    draw = random.Random(str(seed))
    chosen: list[Chosen] = []
    for room, share in shares(lines, most).items():
        mutants = _some(by_room[room], share, draw)
        chosen += [Chosen(room, mutant, [f"tests/{mutant.path.rpartition('/')[0]}"]) for mutant in mutants]
    return chosen


def room_of(path: str) -> str:
    """Return the room of a file: `core/x`, `abilities/x`, or the folder at the top."""
    top, *rest = path.split("/")
    return f"{top}/{rest[0]}" if top in ("core", "abilities") and len(rest) > 1 else top


def shares(lines: Mapping[str, int], most: int) -> dict[str, int]:
    """Divide a number by lines; what is left over goes to the largest remainders."""
    whole = sum(lines.values())
    exact = {room: most * count / whole for room, count in lines.items()}
    shared = {room: int(share) for room, share in exact.items()}
    by_remainder = sorted(exact, key=lambda room: shared[room] - exact[room])
    for room in by_remainder[: most - sum(shared.values())]:
        shared[room] += 1
    return shared


def _edits(files: Iterable[str]) -> dict[str, Edits]:
    return {path: edits_of(_read(path)) for path in files}


def _some(files: Mapping[str, Edits], most: int, draw: random.Random) -> list[Mutant]:
    """Draw lines, and one change of each."""
    lines = [(path, edits) for path, by_line in files.items() for edits in by_line.values()]
    draw.shuffle(lines)
    mutants: list[Mutant] = []
    for path, edits in lines:
        if len(mutants) == most:
            break
        if (mutant := _first_valid(path, draw.sample(edits, len(edits)))) is not None:
            mutants.append(mutant)
    return sorted(mutants, key=lambda mutant: (mutant.path, mutant.line))


def _first_valid(path: str, edits: Sequence[Edit]) -> Mutant | None:
    return next((mutant for edit in edits if (mutant := mutant_of(path, _read(path), edit)) is not None), None)


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
