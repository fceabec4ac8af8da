"""Ours and typeagent's own storage give the same results; its long form is `tests.abilities.memory.differential`."""

from pathlib import Path

import pytest

from core.db.database import Database

pytestmark = pytest.mark.slow


@pytest.mark.xdist_group("typeagent")
async def test_search_results_equal_those_of_typeagents_own_storage(database: Database, tmp_path: Path) -> None:
    from tests.abilities.memory.differential import compare

    assert await compare(database, tmp_path, messages=40, queries=200, seed=7) > 80
