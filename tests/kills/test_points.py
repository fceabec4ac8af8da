"""A worker dies after each statement, and before one where that is another point."""

from tests.kills.points import each_point


async def test_a_point_follows_each_statement_and_precedes_one_after_a_call() -> None:
    # What is in capitals is outside the database.
    work, reached = ["begin", "note", "CALL", "note", "note", "WRITE", "CALL", "end"], list[str]()

    async def reach(point: str) -> tuple[bool, object]:
        reached.append(point)
        number, done = 0, list[str]()
        for act in work:
            number += act.islower()
            if point == f"{number}-" and act.islower():
                return True, done
            if act.isupper():
                done.append(act)
            elif point == f"{number}+":
                return True, done
        return False, done

    assert await each_point(reach) == 5
    assert reached == ["1+", "2+", "3+", "3-", "4+", "5+", "5-", "6+"]
