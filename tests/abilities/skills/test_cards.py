"""What a saved skill writes differs only where its card does: each field in turn, on every channel (promise 9)."""

import json
from collections.abc import Mapping
from itertools import combinations
from typing import cast

import pytest

from abilities.skills.tools import _MAX_DESCRIPTION, _MAX_TEXT, save_skill
from core.json_types import JsonObject
from onevalet.testing import MemoryStorage, make_context
from tests.approvals.cards import card_of_tool

CALL: Mapping[str, str] = {"name": "report", "description": "For reports.", "text": "1. Read.\n2. Write."}
FIELDS: Mapping[str, tuple[str, ...]] = {
    "name": ("report-2", "r" * 64, "r" * 63 + "t"),
    "description": ("For Reports.", "For reports", " For reports. ", "For\nreports.", "For\u200b reports.",
                    "d" * _MAX_DESCRIPTION, "d" * (_MAX_DESCRIPTION - 1) + "e"),
    "text": ("1. Read. 2. Write.", "1. Read.\n\n2. Write.", "1. Read.\n  2. Write.", "\n1. Read.\n2. Write.  ",
             "1. Read.\n2. Write\u200b.", "1. Read.\n2. Wr\u0456te.", "**1. Read.\n2. Write.**", "t" * _MAX_TEXT,
             "t" * (_MAX_TEXT - 1) + "u", "line\n" * 1999 + "one", "line\n" * 1999 + "two"),
}  # fmt: skip
"""What each field is instead."""


async def written(call: Mapping[str, str]) -> str:
    """Return all that a call writes."""
    storage = MemoryStorage()
    await save_skill(**call, context=make_context(storage=storage))
    return json.dumps([(value.key, value.value) for value in await storage.list("skills")], sort_keys=True)


@pytest.mark.parametrize("field", FIELDS)
async def test_promise_9_what_a_skill_writes_differs_only_where_its_card_does(field: str) -> None:
    assert set(FIELDS) == set(cast(JsonObject, save_skill.signature.schema["properties"])), "each field is varied"
    calls = [{**CALL}, *({**CALL, field: value} for value in FIELDS[field])]
    told = [(call, await written(call), await card_of_tool(save_skill, {**call})) for call in calls]
    silent = [
        (one[0][field], other[0][field])
        for one, other in combinations(told, 2)
        if one[1] != other[1] and any(a == b for a, b in zip(one[2], other[2], strict=True))
    ]
    assert silent == []
    assert len({wrote for _, wrote, _ in told}) > len(told) // 2
