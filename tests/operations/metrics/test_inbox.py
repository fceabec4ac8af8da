"""The inbox tells the metrics what became of what came in."""

from typing import get_args

import pytest

from core.db.database import Database
from core.errors import StoreUnavailable
from core.messaging.inbound import Inbound
from operations.metrics.inbox import KINDS, MeasuredInbox
from tests.core.harness import OPEN, Store, message
from tests.counted import Increase

ANN = "+15550000001"
NAME = "onevalet_inbox_seconds_count"


async def test_a_message_is_counted_as_accepted_and_again_as_duplicate(store: Store) -> None:
    inbox = MeasuredInbox(store.database, store.wakeups, store.make_id, OPEN)
    counts = Increase()
    for _ in range(3):
        await inbox.accept(message("hello", ANN, "SM1"))
    assert counts.of(NAME, kind="message", outcome="accepted") == 1
    assert counts.of(NAME, kind="message", outcome="duplicate") == 2


def test_everything_that_comes_in_is_counted_by_its_kind() -> None:
    assert set(KINDS) == set(get_args(Inbound.__value__))


async def test_a_message_that_could_not_be_kept_is_counted_so(store: Store) -> None:
    nowhere = Database("postgresql://onevalet@127.0.0.1:1/onevalet", patience=0.1)
    inbox = MeasuredInbox(nowhere, store.wakeups, store.make_id, OPEN)
    counts = Increase()
    with pytest.raises(StoreUnavailable):
        await inbox.accept(message("hello", ANN, "SM1"))
    await nowhere.close()
    assert counts.of(NAME, kind="message", outcome="not_kept") == 1
