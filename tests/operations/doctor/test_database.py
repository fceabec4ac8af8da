"""What `doctor` says of the database's tables and functions."""

from pathlib import Path

import pytest

from core.db.sql_files import AbilitySql
from onevalet import migrating
from operations.doctor.database import check_database
from tests.core.harness import Store


async def test_what_an_ability_still_lacks_is_told(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [there] = await check_database(store.database)
    assert (there.ok, "without" in there.detail) == (True, False)
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "0001_pets.sql").write_text("create table pets ();")
    abilities = [*migrating.sql_of_abilities(), AbilitySql("pets", tmp_path)]
    monkeypatch.setattr(migrating, "sql_of_abilities", lambda: abilities)
    [lacking] = await check_database(store.database)
    assert (lacking.ok, lacking.fix) == (False, "run `bin/onevalet migrate`")
    assert lacking.detail.endswith(", without pets/0001_pets")
