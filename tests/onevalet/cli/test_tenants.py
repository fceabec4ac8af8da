"""`tenants …` as an operator runs it: out of one installation, deleted, and in again."""

import os
import stat

import pytest

from tests.core.harness import ACCOUNT, Store, message
from tests.onevalet.cli.harness import Operator
from tests.operations.tenants.rewriting import Contents, keep, rewritten, rows_of

ANNS = "+15550000001"
pytestmark = pytest.mark.xdist_group("processes")


async def test_a_person_is_exported_deleted_and_imported(operator: Operator, store: Store) -> None:
    await store.enqueue("Hello.")
    ann = await store.db.person()
    file = operator.folder / "ann.zip"
    code, out, errors = await operator.run("tenants", "export", ann, str(file))
    assert (code, errors) == (0, "")
    assert f"all that is kept of {ann}, {file.stat().st_size} bytes" in out
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert await store.db.person_audit.count(what="exported") == 1
    assert (await operator.run("tenants", "export", ann, str(file)))[0] == 2
    # Without --yes nothing happens.
    code, _, errors = await operator.run("tenants", "delete", ann)
    assert (code, "--yes deletes all of it for good" in errors) == (2, True)
    assert (await operator.run("tenants", "delete", ann, "--yes")) == (0, f"Deleted: {ann}.\n", "")
    assert await store.db.tenants.count() == 0
    code, out, errors = await operator.run("tenants", "import", str(file), "--role", "owner")
    assert (code, errors) == (0, "")
    assert f"{ann} is here as owner" in out
    assert await store.db.inbound.column("text") == ["hello"]
    code, _, errors = await operator.run("tenants", "import", str(file))
    assert (code, f"is {ann} here" in errors) == (2, True)


async def test_an_archive_that_its_person_changed_claims_nobody_elses_number(operator: Operator, store: Store) -> None:
    others, strange = "+15557770001", "me\x1b[2J"

    def claiming(contents: Contents) -> None:
        [own] = rows_of(contents, "identities")
        more = [own | {"id": f"idn_{number}", "user_key": key} for number, key in enumerate((others, strange))]
        keep(contents, "identities", [own, *more])

    await store.enqueue("Hello.")
    ann = await store.db.person()
    file = operator.folder / "ann.zip"
    assert (await operator.run("tenants", "export", ann, str(file)))[0] == 0
    assert (await operator.run("tenants", "delete", ann, "--yes"))[0] == 0
    changed = str(rewritten(file, claiming))
    code, out, errors = await operator.run("tenants", "import", changed)
    assert (code, await store.db.tenants.count()) == (2, 0)
    for address in (f"sms:{ANNS}", f"sms:{others}", "'sms:me?[2J'"):
        assert f"--admit {address}" in out
    assert "Import it again with `--admit ADDRESS` for each that you know as theirs" in errors
    code, _, errors = await operator.run("tenants", "import", changed, "--admit", "sms:+19")
    assert (code, "has no address sms:+19" in errors) == (2, True)
    code, out, errors = await operator.run("tenants", "import", changed, "--admit", f"sms:{ANNS}")
    assert (code, errors) == (0, "")
    assert f"--admit sms:{others}" in out
    assert f"--admit sms:{ANNS}" not in out
    for sender in (others, ANNS):
        await store.inbox.accept(message(f"I am {sender}.", sender, f"SM-{sender}"))
    theirs = "select text from inbound where tenant_id = $1 and text like 'I am%'"
    assert await store.column(theirs, ann) == [f"I am {ANNS}."]
    places = "select account || user_key from identities where tenant_id = $1 and state = 'active'"
    assert await store.column(places, ann) == [ACCOUNT + ANNS]
    # What the person said before is theirs still.
    assert await store.db.inbound.count(tenant_id=ann, text="hello") == 1
