"""Promise 11: of all the ways to another's things that a member may think of, none gets anywhere."""

import asyncpg

from abilities.household.types import Outcome
from core.errors import ToolFailed, ToolRetry
from tests.abilities.household.attempts import begin, further
from tests.abilities.household.test_walls import BEN, Street, attempts, foreign, of_others
from tests.abilities.household.test_walls import street as street

SHARED = {"calendar", "search", "export", "reminders", "consents", "receipts"}
"""What is tried besides the household itself, its lists, its notes and its memories."""


async def test_forty_attempts_of_a_member_at_anothers_things_get_nowhere(street: Street) -> None:
    engine = await begin(street)
    tried = [*await attempts(street), *await further(street, engine)]
    assert len({name for name, _ in tried}) == len(tried) >= 40 + len(SHARED)
    assert {name.partition(":")[0] for name, _ in tried if ":" in name} == SHARED
    before = await of_others(street)
    got = []
    for name, attempt in tried:
        try:
            answer = await attempt()
        except (ToolRetry, ToolFailed) as error:
            answer = str(error)
        except asyncpg.PostgresError as error:
            answer = type(error).__name__
        done = getattr(answer, "outcome", None) in (Outcome.CHANGED, Outcome.REMOVED, Outcome.ENDED, Outcome.JOINED)
        if done or any(one in repr(answer) for one in foreign(BEN)) or await of_others(street) != before:
            got.append((name, answer))
    assert got == []
