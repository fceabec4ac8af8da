"""`dev` once more on the same folder: its secrets are kept, and one that was lost is missed.

That its people go on talking is seen on its page: `tests/page/test_restart.py` and `tests/page/test_guide.py`.
"""

import signal
import stat
from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.forker import Forker
from tests.running_dev import running_dev

pytestmark = [pytest.mark.xdist_group("own dev"), pytest.mark.slow]


async def test_dev_keeps_its_secrets_and_without_its_secret_key_makes_no_other(tmp_path: Path, forker: Forker) -> None:
    home = tmp_path / "home"
    with running_dev(forker, home, signal.SIGTERM) as dev:
        environment = dev.environment
    simulated = home / "simulator.key"
    assert stat.S_IMODE(simulated.stat().st_mode) == 0o600
    key, kept_simulated = home / "secret.key", simulated.read_bytes()
    kept = key.read_text()
    key.unlink()
    code, _, errors = await _run(forker, tmp_path, environment, "dev")
    assert code == 2, errors
    sentence = errors.splitlines()[-1]
    assert sentence.startswith(f"The secret key in {key} is missing"), errors
    assert "email simulator of tn_" in sentence
    assert "secret_key_is_missing" not in errors
    assert "bin/onevalet keys discard --yes" in sentence
    assert not key.exists()
    code, listed, errors = await _run(forker, tmp_path, environment, "keys", "discard")
    assert code == 0, errors
    assert "lost  email simulator of tn_" in listed
    assert listed.splitlines()[-1].endswith("Nothing was changed: --yes discards them.")
    key.write_text(kept)
    with running_dev(forker, home, signal.SIGTERM):
        assert simulated.read_bytes() == kept_simulated, "its page would be refused, and so would what it signs"


async def _run(forker: Forker, folder: Path, environment: dict[str, str], *words: str) -> tuple[int, str, str]:
    """Run a command, and return its code, what it printed, and its errors."""
    out, errors = folder / f"{words[-1]}.out", folder / f"{words[-1]}.errors"
    process = forker.fork(words, environment, out, errors)
    await eventually(lambda: process.returncode is not None, f"the end of {' '.join(words)}")
    assert process.returncode is not None
    return process.returncode, out.read_text(), errors.read_text()
