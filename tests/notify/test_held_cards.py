"""A task that asks for consent at night: its card waits for the morning, and so does its time."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from abilities.tasks.kinds.schedule import ScheduleTrigger
from core.clock import Clock
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.abilities.tasks.test_waiting import mailing
from tests.core.builders import FakeModel, says, wants
from tests.core.harness import Store


@pytest.mark.parametrize("urgency", ["normal", "urgent"])
async def test_a_card_waits_for_quiet_hours_to_end_unless_it_is_urgent(store: Store, urgency: str) -> None:
    model = FakeModel([wants(("SendMail", {"to": "team@example.org"})), says("Done.")])
    harness, _ = await mailing(store, model)
    notes = NotificationStore(store.database, store.make_id)
    service = NotificationService(notes, ["sms"], store.wakeups, cast(Clock, harness.clock), store.make_id)
    harness.turns._features = replace(harness.turns._features, holds_cards=service.holds_cards)
    await store.db.tenants.change({"timezone": "UTC"})
    await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ScheduleTrigger(interval_minutes=60 * 24),
        action={"instruction": "Mail the team"},
        output={"urgency": urgency},
    )
    # A task that waited for the end of the quiet hours would ask nobody.
    await store.db.tasks.change({"output": json.dumps({"urgency": urgency, "at_night": True})})
    harness.clock.move(days=1)
    now = harness.clock.now()
    await store.db.tenants.change(
        {"quiet_from": f"{now - timedelta(hours=1):%H:%M}", "quiet_until": f"{now + timedelta(hours=1):%H:%M}"}
    )
    await harness.work()
    asked = "select state from outbound where kind = 'card'"
    assert await store.column(asked) == (["held"] if urgency == "normal" else ["ready"])
    assert await store.db.approvals.column("expires_at") == [None]
    assert await service.release_held() == 0
    harness.clock.move(hours=2)
    assert await service.release_held() == (1 if urgency == "normal" else 0)
    assert await store.column(asked) == ["ready"]
