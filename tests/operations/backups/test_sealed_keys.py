"""A copy of the secret keys opens with its passphrase only."""

import stat
from pathlib import Path

import pytest

from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.errors import ConfigError
from operations.backups.sealed_keys import read_keys, write_keys

KEYS = SecretKeys(read_secret_key(text) for text in ("A" * 43 + "=", "B" * 42 + "E="))
PHRASE = "four quiet words here"


@pytest.mark.whole("a passphrase takes a second on purpose")
def test_what_was_written_is_read_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    write_keys(path, KEYS, PHRASE)
    assert [key.value for key in read_keys(path, PHRASE).all] == [key.value for key in KEYS.all]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "AAAAAAAA" not in path.read_text()
    with pytest.raises(FileExistsError):
        write_keys(path, KEYS, PHRASE)


@pytest.mark.whole("a passphrase takes a second on purpose")
def test_another_passphrase_and_a_changed_file_do_not_open(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    write_keys(path, KEYS, PHRASE)
    whole = path.read_text()
    with pytest.raises(ConfigError, match="the passphrase is another, or the file was changed"):
        read_keys(path, PHRASE + "s")
    place = whole.index('"sealed":') + 20
    path.write_text(whole[:place] + ("A" if whole[place] != "A" else "B") + whole[place + 1 :])
    with pytest.raises(ConfigError, match="the passphrase is another, or the file was changed"):
        read_keys(path, PHRASE)
    path.write_text(whole[:-20])
    with pytest.raises(ConfigError, match="it was cut or changed"):
        read_keys(path, PHRASE)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_keys(tmp_path / "none", PHRASE)


def test_a_short_passphrase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="12 letters or more"):
        write_keys(tmp_path / "keys", KEYS, "short")
    assert list(tmp_path.iterdir()) == []
