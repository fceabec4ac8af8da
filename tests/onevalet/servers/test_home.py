"""ONEVALET_HOME: one `dev` a folder, found by the commands beside it."""

import stat
from pathlib import Path

import pytest

from core.errors import ConfigError
from onevalet.servers.home import Running, find_running, hold_home
from onevalet.servers.postgres import Postgres
from onevalet.servers.valkey import Valkey
from tests.onevalet.servers.conftest import StartHolder

RUNNING = Running(1, "http://127.0.0.1:8080", "http://127.0.0.1:8081", "postgresql://a", "redis://b")


def test_a_second_start_on_the_same_folder_is_one_sentence(home: Path, start_holder: StartHolder) -> None:
    holder = start_holder()

    with pytest.raises(ConfigError) as caught, hold_home(home):
        pass

    sentence = str(caught.value)
    assert sentence.startswith(f"OneValet is already running on {home} (process {holder.pid}, http://127.0.0.1")
    assert "\n" not in sentence


def test_a_running_dev_is_found_until_it_ends(home: Path) -> None:
    with hold_home(home) as held:
        assert find_running(home) is None
        held.remember(RUNNING)
        assert find_running(home) == RUNNING
        assert stat.S_IMODE((home / "running.json").stat().st_mode) == 0o600

    assert find_running(home) is None
    assert not (home / "running.json").exists()


def test_what_a_killed_dev_left_is_not_taken_for_a_running_one(home: Path, start_holder: StartHolder) -> None:
    holder = start_holder()
    assert find_running(home) is not None

    holder.kill()
    holder.wait()

    assert (home / "running.json").exists()
    assert find_running(home) is None


def test_no_folder_at_all_is_no_running_dev(home: Path) -> None:
    assert find_running(home) is None
    assert not home.exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(home: Path) -> None:
    home.parent.joinpath("file").touch()

    with pytest.raises(ConfigError, match="cannot be created"), hold_home(home.parent / "file" / "home"):
        pass


@pytest.mark.whole("it starts servers")
@pytest.mark.parametrize("kind", [Postgres, Valkey])
async def test_a_second_server_on_one_folder_is_refused(
    home: Path, kind: type[Postgres | Valkey], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onevalet.servers.server._LOCK_SECONDS", 0.2)
    first = kind(home)
    await first.start()

    with pytest.raises(ConfigError, match="Another process runs"):
        await kind(home).start()

    assert first.running
    await first.stop()
