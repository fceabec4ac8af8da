"""An operator's shell."""

import base64
import os
from pathlib import Path

import pytest

from tests.forker import Forker
from tests.onevalet.cli.harness import Operator


@pytest.fixture
def operator(database_url: str, tmp_path: Path, forker: Forker) -> Operator:
    """Return a shell whose settings name the test's database and a secret key."""
    return Operator(
        {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url,
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "ONEVALET_HOME": str(tmp_path),
            "ONEVALET_SECRET_KEYS": base64.b64encode(os.urandom(32)).decode(),
        },
        forker,
        tmp_path,
    )
