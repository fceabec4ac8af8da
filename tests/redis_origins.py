"""Let a connection to Redis say which test opened it, and where: it may be collected as garbage in a later test."""

import os
from typing import Any

from redis.asyncio import Connection

from tests.forker import ROOT
from tests.origins import origin

_FRAMES = 4


def note_origins() -> None:
    """Add the test and our innermost frames to the name of each connection that is made from now on."""
    make: Any = Connection.__init__
    pieces: Any = Connection.repr_pieces

    def init(self: Any, *args: Any, **named: Any) -> None:
        ours = [(file, line) for file, line, _ in origin(20) if file.startswith(str(ROOT)) and ".venv" not in file]
        places = [f"{file.removeprefix(f'{ROOT}/')}:{line}" for file, line in ours]
        self.origin = f"{os.environ.get('PYTEST_CURRENT_TEST', '')} {' > '.join(places[-_FRAMES:])}"
        make(self, *args, **named)

    def repr_pieces(self: Any) -> list[tuple[str, object]]:
        return [*pieces(self), ("opened_by", self.origin)]

    patched: Any = Connection
    patched.__init__, patched.repr_pieces = init, repr_pieces
