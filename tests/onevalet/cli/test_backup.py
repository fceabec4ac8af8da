"""`backup`, `restore` and `keys backup|restore` as an operator runs them."""

import json
import os
import stat
from pathlib import Path

import pytest

from operations.backups.types import open_backup
from tests.core.harness import Store
from tests.onevalet.cli.harness import Operator
from tests.operations.tenants.harness import LETTER, Installation
from tests.services import RunServices, fresh_database

pytestmark = pytest.mark.xdist_group("processes")


async def test_a_backup_is_written_verified_and_restored(
    operator: Operator, store: Store, services: RunServices, tmp_path: Path
) -> None:
    installation = Installation(store, tmp_path)
    await installation.fill()
    code, out, errors = await operator.run("backup", "--json")
    assert (code, errors) == (0, "")
    told = json.loads(out)
    file = Path(told["file"])
    assert file.parent == tmp_path / "backups"
    assert (told["files"], told["lost"], told["rows"]) == (2, 0, open_backup(file).rows)
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert await store.one("select count(*) from backups where finished_at is not null and bytes = $1", told["bytes"])
    code, _, errors = await operator.run("backup", str(file))
    assert (code, errors) == (2, f"{file} is there already.\n")
    # Cut short, it is refused before anything is looked at.
    cut = tmp_path / "cut.zip"
    cut.write_bytes(open_backup(file).path.read_bytes()[:-40])
    code, _, errors = await operator.run("restore", str(cut), "--replace")
    assert (code, "not a whole archive of OneValet: it was cut" in errors) == (2, True)
    async with fresh_database(services, "restored_by_command") as url:
        elsewhere = {"DATABASE_URL": url, "ONEVALET_FILES": str(tmp_path / "elsewhere")}
        code, out, errors = await operator.run("restore", str(file), **elsewhere)
        assert (code, "--replace, which deletes" in errors) == (2, True)
        code, out, errors = await operator.run("restore", str(file), "--verify", **elsewhere)
        assert (code, errors) == (0, "")
        assert "2 files" in out
        assert not (tmp_path / "elsewhere").exists()
        code, out, errors = await operator.run("restore", str(file), "--replace", **elsewhere)
        assert (code, errors) == (0, "")
        assert f"Restored: {told['rows']} rows and 2 files of " in out
        # Ann's data key is wrapped with a key that these settings do not have.
        assert "Not in ONEVALET_SECRET_KEYS: 1 secret key that it needs." in out
    assert [path.read_bytes() for path in (tmp_path / "elsewhere").rglob("*-blob*")] == [LETTER, LETTER]


async def test_secret_keys_are_copied_under_a_passphrase(operator: Operator) -> None:
    file = operator.folder / "keys"
    code, out, errors = await operator.run("keys", "backup", str(file), stdin="four quiet words here\n")
    assert (code, errors) == (0, "")
    assert "1 secret key. Without the passphrase nobody opens it" in out
    code, out, errors = await operator.run(
        "keys", "restore", str(file), stdin="four quiet words here\n", ONEVALET_SECRET_KEYS="", DATABASE_URL=""
    )
    assert (code, out, errors) == (0, f"ONEVALET_SECRET_KEYS={operator.environment['ONEVALET_SECRET_KEYS']}\n", "")
    code, out, errors = await operator.run("keys", "restore", str(file), stdin="four loud words here\n")
    assert (code, out) == (2, "")
    assert "does not open: the passphrase is another" in errors
