"""What a card says, as its language writes it: labels begin with a capital, and Chinese has its own punctuation."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.approvals.cards import card
from core.approvals.consent import Described
from core.approvals.describe import tool_consent
from core.approvals.edits import differences
from core.approvals.rendering import as_text, render_arguments
from core.approvals.seal import Sealed
from core.approvals.types import NewApproval
from core.json_types import JsonObject
from core.language.catalogue import LANGUAGES, speaking
from core.tools.tool import tool

BEFORE: JsonObject = {"recipient": ["a@example.com", "b@example.com"], "every_minutes": 30}
AFTER: JsonObject = {"recipient": ["c@example.com"], "every_minutes": 45}


async def shown(language: str) -> str:
    """Return the text of a card of a changed call in a language."""

    @tool(name="send_email", needs_approval=True, description="Send.")
    async def send_email(recipient: list[str], every_minutes: int) -> str:
        return ""

    with speaking(language):
        described: Described = await tool_consent("c", send_email, BEFORE).describe(BEFORE)
        approval = NewApproval(
            id="a", call_id="c", generation=1, name="send_email", summary=described.summary, arguments=BEFORE,
            rendered=render_arguments(BEFORE, described), form=(), risk="", source="message", code="7K", token="t",
            seconds=1800, sealed=Sealed("", ""), created_at=datetime(2026, 11, 23, tzinfo=UTC),
            changed=differences(BEFORE, AFTER),
        )  # fmt: skip
        return card(approval, "o").message.text


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_line_of_a_card_begins_with_a_capital(language: str) -> None:
    lines = [line for line in (await shown(language)).splitlines() if line]
    assert len(lines) == 7
    assert [line for line in lines if line[0].islower()] == []


def test_what_details_say_in_words_is_not_said_again() -> None:
    described = Described("Move it", {"series": "all of it"}, {"series": "series", "day": "day"})
    arguments: JsonObject = {"series": "all", "day": "2026-11-23"}
    raw = (("Series", "all of it"), ("Series", "all"), ("Day", "2026-11-23"))
    assert render_arguments(arguments, described) == raw
    in_words = replace(described, in_words=frozenset({"series", "day"}))
    assert render_arguments(arguments, in_words) == raw[:1]


async def test_chinese_cards_have_full_width_punctuation() -> None:
    text = re.sub(r"`[^`]*`", "`x`", await shown("zh"))  # values are the person's own
    assert re.findall(r"[:,;!?()]", text) == []
    assert "：" in text
    with speaking("zh"):
        assert as_text(["安娜", "鲍勃"]) == "安娜、鲍勃"
        assert as_text(["安娜、鲍勃"]) != as_text(["安娜", "鲍勃"])


async def test_a_french_colon_stands_apart() -> None:
    assert not re.search(r"[^ ]:", re.sub(r"`[^`]*`", "", await shown("fr")))
