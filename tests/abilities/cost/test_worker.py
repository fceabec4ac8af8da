"""A worker as it is wired: it holds long answers back, counts what a text costs, and offers links it can make."""

from pathlib import Path

import pytest

from core.language.money import Currency
from core.messaging.messages import OutboundKind, OutboundMessage
from tests.abilities.cost.harness import WORDS
from tests.counted import Increase
from tests.jobs.turns.test_turn_cost import open_metered

pytestmark = pytest.mark.xdist_group("model")


async def test_a_worker_holds_long_answers_back_and_counts_texts(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Increase()
    async with open_metered(
        database_url,
        redis_url,
        tmp_path,
        monkeypatch,
        onevalet_currency=Currency.read("EUR=0.5"),
        onevalet_sms_price=("+1=0.01",),
    ) as running:
        await running.answer("hello")
        assert counts.of("onevalet_segments_total", channel="sms") == 1
        assert counts.of("onevalet_text_cost_dollars_total", channel="sms") == pytest.approx(0.02)
        store = running.store
        (row,) = await store.admin.fetch("select tenant_id, id from conversations")
        message = OutboundMessage(store.make_id("out"), OutboundKind.REPLY, WORDS)
        await store.enqueue_in(row["tenant_id"], row["id"], [message])
        claim = await running.parts.delivery.claim(row["id"])
        assert claim is not None
        await running.parts.delivery.run(claim)
        question = running.harness.bubbles()[-1].text
    assert question.startswith("My answer is 15 texts long and costs €0.15.")
    segments = counts.of("onevalet_segments_total", channel="sms")
    assert counts.of("onevalet_text_cost_dollars_total", channel="sms") == pytest.approx(0.02 * segments)
