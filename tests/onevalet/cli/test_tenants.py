"""`tenants …` as an operator runs it: out of one installation, deleted, and in again."""

import os
import stat

import pytest

from tests.core.harness import Store
from tests.onevalet.cli.harness import Operator

pytestmark = pytest.mark.xdist_group("processes")


async def test_a_person_is_exported_deleted_and_imported(operator: Operator, store: Store) -> None:
    await store.enqueue("Hello.")
    ann = str(await store.one("select tenant_id from tenants"))
    file = operator.folder / "ann.zip"
    code, out, errors = await operator.run("tenants", "export", ann, str(file))
    assert (code, errors) == (0, "")
    assert f"all that is kept of {ann}, {file.stat().st_size} bytes" in out
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert await store.one("select count(*) from person_audit where what = 'exported'") == 1
    assert (await operator.run("tenants", "export", ann, str(file)))[0] == 2
    # Without --yes nothing happens.
    code, _, errors = await operator.run("tenants", "delete", ann)
    assert (code, "--yes deletes them for good" in errors) == (2, True)
    assert (await operator.run("tenants", "delete", ann, "--yes")) == (0, f"Deleted: {ann}.\n", "")
    assert await store.one("select count(*) from tenants") == 0
    code, out, errors = await operator.run("tenants", "import", str(file), "--role", "owner")
    assert (code, errors) == (0, "")
    assert f"{ann} is here as owner" in out
    assert await store.column("select text from inbound") == ["hello"]
    code, _, errors = await operator.run("tenants", "import", str(file))
    assert (code, f"is {ann} here" in errors) == (2, True)
