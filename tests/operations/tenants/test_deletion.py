"""A person is deleted: nothing of them is left anywhere, whatever happens meanwhile."""

import pytest

from core.errors import LeaseLost
from core.files.blobs import FolderStore
from operations.tenants.deletion import GRACE, AskedBy, Deletion
from tests.core.db.test_row_security import ANN
from tests.core.harness import ACCOUNT, CHANNEL, message
from tests.operations.tenants.harness import Installation


async def found_anywhere(installation: Installation, signs: set[str]) -> set[str]:
    """Search every column of every table and every file for the beginning of canaries; return those found."""
    tables = await installation.store.column(
        "select c.oid::regclass::text from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'"
    )
    seen = ""
    for table in tables:
        # Bytes are shown in hex.
        rows = await installation.store.column(f"select t::text from {table} t")  # noqa: S608
        seen += "\n".join(map(str, rows))
    for path in installation.folder.rglob("*"):
        seen += f"\n{path}\n" + (path.read_bytes().decode(errors="replace") if path.is_file() else "")
    return {sign for sign in signs if sign in seen or sign.encode().hex() in seen}


async def test_no_canary_is_left_in_any_column_or_file(installation: Installation) -> None:
    await installation.keep_file(installation.ann, b"canary-in-a-file")
    planted = await installation.plant(installation.ann, "canary-")
    assert len(planted) >= 50
    admin = installation.store.admin
    # A second plantation overwrote none of the first: each sign is there to be found.
    everywhere = await found_anywhere(installation, set(planted) | {"canary-in-a-file"})
    assert len(everywhere) >= 50
    place = await admin.fetchrow(
        "select channel, account, user_key from identities where tenant_id = $1", installation.ann
    )
    assert place is not None
    await admin.execute(
        "insert into pairings (code_hash, channel, account, user_key, asked_at, expires_at)"
        " values ('c', $1, $2, $3, now(), now())",
        *place,
    )
    await admin.execute(
        "insert into guesses (scope, at) values (concat_ws(chr(31), 'link', $1::text, $2::text, $3::text), now())",
        *place,
    )
    assert await installation.delete() is not None
    assert await found_anywhere(installation, everywhere | {"canary-", installation.ann}) == {installation.ann}
    assert await installation.store.db.deletions.column("person") == [installation.ann]


async def test_a_message_that_comes_again_does_not_bring_the_person_back(installation: Installation) -> None:
    store = installation.store
    await installation.delete()
    [key, *_] = await store.column("select 'SM_' || lpad(n::text, 6, '0') from generate_series(1, 1) n")
    first = message("hello", ANN, str(key))
    assert await store.db.ignored_messages.count(key=str(key)) == 0
    assert (await store.inbox.accept(first)).duplicate
    assert await store.db.identities.count(user_key=ANN) == 0
    # They may come back themselves; the old message stays known.
    await store.say("hello again", sender=ANN)
    assert (await store.inbox.accept(first)).duplicate
    assert await store.column(
        "select text from inbound i join identities u using (tenant_id) where u.user_key = $1", ANN
    ) == ["hello again"]


async def test_a_stop_outlives_its_person(installation: Installation) -> None:
    store = installation.store
    await store.reach(ANN, False, "STOP1")
    await installation.delete()
    row = await store.admin.fetchrow("select * from find_consent($1,$2,$3)", CHANNEL, ACCOUNT, ANN)
    assert row is not None
    assert row["state"] == "stopped"


async def test_a_running_turn_and_delivery_end_without_a_trace(installation: Installation) -> None:
    store = installation.store
    await store.enqueue("on its way", sender=ANN)
    claim = await store.claim_sending("on its way")
    await store.say("and now?", sender=ANN)
    lease, turn = await store.claim_turn()
    assert await installation.delete() is not None
    with pytest.raises(LeaseLost):
        await store.finish(lease, turn, "too late")
    with pytest.raises(LeaseLost):
        await store.send(claim)
    assert [table for table, rows in (await installation.rows(installation.ann)).items() if rows] == []
    assert await store.turns.claim(None, "w2") is None


async def test_a_person_who_asks_has_their_answer_first(installation: Installation) -> None:
    await installation.deletion.ask(installation.ann, AskedBy.PERSON, installation.clock.now())
    assert await installation.deletion.once() is None
    installation.clock.move(GRACE)
    deleted = await installation.deletion.once()
    assert deleted is not None
    assert deleted.person == installation.ann
    assert await installation.deletion.once() is None


async def test_nobody_is_deleted_without_being_asked_for(installation: Installation) -> None:
    assert await installation.deletion.once(installation.bob) is None
    with pytest.raises(Exception, match="nobody asked"):
        await installation.store.database.rows("select delete_tenant($1,$2)", installation.bob, ["tenants"])


class Crash(Exception):
    """The worker dies here."""


@pytest.mark.parametrize("step", ["select delete_tenant", "select key from file_deletions", "select end_deletion"])
async def test_a_deletion_that_dies_at_a_step_is_ended_by_another(
    installation: Installation, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = installation.store.database
    real = type(database).rows

    async def rows(self: object, statement: str, *args: object) -> object:
        if statement.startswith(step):
            raise Crash
        return await real(database, statement, *args)

    if step == "select delete_tenant":
        monkeypatch.setattr(Deletion, "_end_grants", _dies)
    else:
        monkeypatch.setattr(type(database), "rows", rows)
    with pytest.raises(Crash):
        await installation.delete()
    monkeypatch.undo()
    # The lease of the one that died runs out first.
    assert await installation.deletion.once() is None
    installation.clock.move(minutes=11)
    assert await installation.deletion.once() is not None
    assert [table for table, rows in (await installation.rows(installation.ann)).items() if rows] == []
    assert isinstance(installation.files.blobs, FolderStore)
    left = [path for path in (installation.folder / "files" / installation.ann).rglob("*") if path.is_file()]
    assert left == []
    assert await installation.store.one("select count(*) from deletions where finished_at is null") == 0


async def _dies(*_: object) -> None:
    raise Crash
