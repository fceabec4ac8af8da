"""Where a process gets its secret key: the settings, or a file that `dev` makes once."""

import base64
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.credentials.store import CredentialStore
from core.errors import ConfigError
from onevalet.settings import Settings, load_settings
from onevalet.wiring.secret_keys import key_file, key_for, secret_keys, with_key_file
from tests.core.harness import Store
from tests.onevalet.cli.harness import add_people
from workbench.dev.run import describe
from workbench.dev.simulator_wiring import Simulated

URL = SecretStr("redis://127.0.0.1:1/0")
KEY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, onevalet_home=tmp_path / "home", onevalet_secret_keys=())


def test_a_key_is_made_once_for_its_owner_only(settings: Settings) -> None:
    made = with_key_file(settings, make=True)
    path = key_file(settings.onevalet_home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(base64.b64decode(path.read_text())) == 32
    assert secret_keys(made).newest.id == secret_keys(with_key_file(settings, make=True)).newest.id
    assert [entry.name for entry in path.parent.iterdir()] == ["secret.key"]


def test_processes_that_make_it_at_once_agree(settings: Settings) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: secret_keys(with_key_file(settings, make=True)).newest.id, range(1)))
        made += list(pool.map(lambda _: secret_keys(with_key_file(settings, make=True)).newest.id, range(8)))
    assert len(set(made)) == 1


def test_a_key_that_is_set_later_is_newer_and_the_files_still_opens(settings: Settings) -> None:
    old = secret_keys(with_key_file(settings, make=True)).newest
    later = with_key_file(settings.model_copy(update={"onevalet_secret_keys": (SecretStr(KEY),)}), make=True)
    keys = secret_keys(later)
    assert keys.newest.value == bytes(range(32))
    assert keys.find(old.id) == old


async def test_a_key_file_that_is_gone_is_an_error_where_anything_is_sealed(settings: Settings, store: Store) -> None:
    await add_people(store.url, "tn_ann")
    path = key_file(settings.onevalet_home)
    made = await key_for(settings, store.database)
    await CredentialStore(store.database, secret_keys(made)).save("tn_ann", "google", {"token": "canary-55f0"}, "work")
    kept = path.read_text()
    path.unlink()
    other = settings.model_copy(update={"onevalet_secret_keys": (SecretStr(KEY),)})
    for without in (settings, other):
        with pytest.raises(ConfigError) as lost:
            await key_for(without, store.database)
        assert str(lost.value).startswith(f"The secret key in {path} is missing")
        assert "google work of tn_ann" in str(lost.value)
        assert "put back your copy" in str(lost.value)
        assert "set ONEVALET_SECRET_KEYS" in str(lost.value)
        assert not path.exists(), "no new key is made in silence"
    restored = settings.model_copy(update={"onevalet_secret_keys": (SecretStr(kept.strip()),)})
    again = await key_for(restored, store.database)
    assert (await CredentialStore(store.database, secret_keys(again)).get("tn_ann", "google", "work")) is not None
    path.write_text(kept)
    assert secret_keys(await key_for(settings, store.database)).newest.id == secret_keys(made).newest.id


def test_no_file_is_made_where_a_key_is_set_or_none_is_asked_for(settings: Settings) -> None:
    with_key_file(settings.model_copy(update={"onevalet_secret_keys": (SecretStr(KEY),)}), make=True)
    with_key_file(settings, make=False)
    assert not key_file(settings.onevalet_home).exists()


def test_a_file_that_others_may_read_is_closed_again(settings: Settings) -> None:
    with_key_file(settings, make=True)
    key_file(settings.onevalet_home).chmod(0o644)
    with_key_file(settings, make=True)
    assert stat.S_IMODE(key_file(settings.onevalet_home).stat().st_mode) == 0o600


def test_a_damaged_file_is_one_sentence_and_is_not_replaced(settings: Settings) -> None:
    with_key_file(settings, make=True)
    key_file(settings.onevalet_home).write_text("half a ke")
    with pytest.raises(ConfigError, match="is damaged: put back your copy") as caught:
        with_key_file(settings, make=True)
    assert "half a ke" not in str(caught.value)
    assert key_file(settings.onevalet_home).read_text() == "half a ke"


def test_without_a_key_it_says_how_to_make_one(settings: Settings) -> None:
    with pytest.raises(ConfigError, match="ONEVALET_SECRET_KEYS is not set: make a key with `openssl"):
        secret_keys(settings)


@pytest.mark.parametrize("wrong", ["not-base64", base64.b64encode(b"short").decode(), f"{KEY},secret?", f"{KEY}="])
def test_a_wrong_key_is_one_sentence_that_does_not_repeat_it(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("ONEVALET_SECRET_KEYS", wrong)
    with pytest.raises(ConfigError, match=r"^ONEVALET_SECRET_KEYS cannot be used: each key must be base64") as caught:
        load_settings()
    assert "\n" not in str(caught.value)
    for part in wrong.split(","):
        assert part not in str(caught.value)


def test_the_keys_are_blotted_out_of_the_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEVALET_SECRET_KEYS", KEY)
    settings = load_settings()
    assert KEY in settings.secrets()
    assert KEY not in repr(settings)


def test_dev_says_where_the_key_is(settings: Settings) -> None:
    settings = with_key_file(settings.model_copy(update={"database_url": URL, "redis_url": URL}), make=True)
    lines = describe(Simulated(settings, frozenset()), "http://127.0.0.1:8080", "http://127.0.0.1:8081")
    [line] = [line for line in lines.splitlines() if "secret key" in line]
    assert str(key_file(settings.onevalet_home)) in line
    assert "keep a copy" in line
    for key in settings.onevalet_secret_keys:
        assert key.get_secret_value() not in lines
