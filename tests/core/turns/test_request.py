"""What a turn says of itself, from how it came and where it writes."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.loop.control import TurnMessage
from core.messaging.messages import Origin
from core.messaging.programs import CHANNEL
from core.turns.trigger_message import TriggerMessage
from core.turns.types import FromPerson, FromTask, Place, Resumed, TurnRequest, TurnSender
from onevalet.turns import new_turn

SENDER = TurnSender("+1", "ann")
FIRED = TriggerMessage("ann", "[Event Trigger] Water me!")


def said(*, origin: Origin = Origin.OWN) -> TurnRequest:
    message = TurnMessage("m", "Hello", datetime(2026, 11, 21, tzinfo=UTC), origin=origin)
    return replace(new_turn("", "ann"), came=FromPerson((message,), SENDER))


def test_a_turn_of_a_person_has_messages_and_a_sender_and_no_trigger() -> None:
    turn = said()
    assert ([message.text for message in turn.inbound], turn.sender) == (["Hello"], SENDER)
    assert (turn.trigger, turn.payer.task_id, turn.go_on_at, turn.passed_on) == (None, None, None, False)


def test_a_run_of_a_task_has_a_trigger_and_spends_for_its_task() -> None:
    turn = new_turn(FIRED, "ann").began(FromTask(FIRED, "task_1"))
    assert (turn.inbound, turn.sender, turn.trigger, turn.payer.task_id) == ((), None, FIRED, "task_1")


@pytest.mark.parametrize("first", [said().first, FromTask(FIRED, "task_1")])
def test_a_turn_that_goes_on_is_still_what_it_was_at_first(first: FromPerson | FromTask) -> None:
    before = replace(said(), came=first)
    turn = replace(before, came=Resumed(2, first))
    assert turn.go_on_at == 2
    assert (turn.inbound, turn.sender, turn.trigger) == (before.inbound, before.sender, before.trigger)
    assert turn.payer == before.payer


def test_a_run_that_goes_on_learns_of_its_task_and_still_goes_on() -> None:
    turn = replace(new_turn(FIRED, "ann"), came=Resumed(3, FromTask())).began(FromTask(FIRED, "task_1"))
    assert (turn.go_on_at, turn.trigger) == (3, FIRED)


def test_words_of_others_are_known_by_message_channel_and_what_came_before() -> None:
    assert said(origin=Origin.FORWARDED).passed_on
    assert replace(said(), place=Place(CHANNEL)).passed_on
    assert replace(said(), came=Resumed(0, FromPerson(), passed_on=True)).passed_on
    assert not replace(said(), came=Resumed(0, FromPerson())).passed_on


def test_other_messages_leave_the_sender_and_the_place_as_they_were() -> None:
    turn = said()
    again = turn.saying(replace(message, text="Please") for message in turn.inbound)
    assert ([message.text for message in again.inbound], again.sender, again.place) == (["Please"], SENDER, turn.place)
