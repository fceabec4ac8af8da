"""A folder that goes with what it was made for."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder, through which embedded servers reach what is theirs, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            folder.chmod(0o711)  # root's servers run as a user of their own
        yield folder
