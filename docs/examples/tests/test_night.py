from datetime import UTC, datetime

import pytest
from house.night import night
from onevalet import ModelAnswer, ModelLayer, ModelRequest, Orchestrator, new_turn
from onevalet.testing import StandingClock


class Awake:
    layers = (ModelLayer("awake"),)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(text="Good morning.")

    async def close(self) -> None: ...


async def test_nobody_is_answered_at_night(monkeypatch: pytest.MonkeyPatch) -> None:
    orchestrator = Orchestrator(Awake(), checks=[night])
    for hour, reason, reply in ((3, "asleep", "I am asleep. Write again in the morning."), (7, "", "Good morning.")):
        monkeypatch.setattr(night, "clock", StandingClock(datetime(2027, 1, 4, hour, tzinfo=UTC)))
        result = await orchestrator.handle_message(new_turn("Hello", "ann"))
        assert (result.reason, result.reply) == (reason, reply)
