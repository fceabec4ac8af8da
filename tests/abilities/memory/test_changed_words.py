"""Memory reads the words of messages as they were changed to, and no others."""

from tests.core.harness import Store
from tests.core.inbox.test_amendments import edit, sent


async def test_words_that_were_replaced_are_not_read(store: Store) -> None:
    await store.inbox.accept(sent("hello", "SM0"))
    lease, turn = await store.claim_turn()
    for text, key in (("Pay Sam 50", "SM1"), ("and call him", "SM2")):
        await store.inbox.accept(sent(text, key))
    await store.inbox.accept(edit("Pay Sam 60"))
    assert await store.finish(lease, turn, "Hi.")
    again = await store.turns.begin(lease)
    assert again is not None
    await store.finish(lease, again, "Done.")
    talk = await store.database.one("select * from read_talk($1,$2,5)", lease.tenant_id, [again.turn_id])
    assert set(talk["words"]) == {"Pay Sam 60", "and call him"}
