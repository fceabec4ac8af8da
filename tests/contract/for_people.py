"""Sentences that are meant for the model, which never reach a person."""

import re

from tests.core.harness import Store

FOR_THE_MODEL = re.compile(
    r"for_assistant|\bthe person(?:'s)?\b|\btell them\b|\btheir accounts\b|\bcall (?:this|it) again\b|\bIt takes:",
    re.IGNORECASE,
)


async def assert_nothing_for_the_model(store: Store) -> None:
    """Look at all that was ever queued for a person."""
    for text in await store.db.outbound.column("text"):
        assert not FOR_THE_MODEL.search(str(text)), text
