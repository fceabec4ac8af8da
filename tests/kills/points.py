"""The points at which a worker dies, of work whose statements are numbered."""

import itertools
from collections.abc import Awaitable, Callable


async def each_point(reach: Callable[[str], Awaitable[tuple[bool, object]]]) -> int:
    """Let a worker die at each point; return how many statements it makes.

    `reach` lets it die at `3-`, before the third, or at `3+`, after its commit; it returns whether it died, and what
    it had done outside the database by then. Where that is nothing new, between two statements only memory is touched:
    to die before the second is to die after the first, so it dies before what follows something outside alone.
    """
    before: object = None
    for number in itertools.count(1):
        died, outside = await reach(f"{number}+")
        if not died:
            return number - 1
        if number > 1 and outside != before:
            await reach(f"{number}-")
        before = outside
    raise AssertionError
