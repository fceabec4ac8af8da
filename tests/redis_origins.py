"""Let a connection to Redis say which test opened it, and where: it may be collected as garbage in a later test."""

import os
import traceback
from typing import Any

from redis.asyncio import Connection

from tests.forker import ROOT

_FRAMES = 4


def note_origins() -> None:
    """Add the test and our innermost frames to the name of each connection that is made from now on."""
    make: Any = Connection.__init__
    pieces: Any = Connection.repr_pieces

    def init(self: Any, *args: Any, **named: Any) -> None:
        ours = [frame for frame in traceback.extract_stack(limit=20)[:-1] if frame.filename.startswith(str(ROOT))]
        places = [
            f"{frame.filename.removeprefix(f'{ROOT}/')}:{frame.lineno}"
            for frame in ours
            if ".venv" not in frame.filename
        ]
        self.origin = f"{os.environ.get('PYTEST_CURRENT_TEST', '')} {' > '.join(places[-_FRAMES:])}"
        make(self, *args, **named)

    def repr_pieces(self: Any) -> list[tuple[str, object]]:
        return [*pieces(self), ("opened_by", self.origin)]

    patched: Any = Connection
    patched.__init__, patched.repr_pieces = init, repr_pieces
