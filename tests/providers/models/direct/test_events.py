"""Server-sent events are read however the network cuts them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.models.streamed_answer import MAX_LINE, EventReader


def read(*parts: bytes) -> list[str]:
    """Return all events of a stream that comes in parts."""
    reader = EventReader()
    return [event for part in parts for event in reader.feed(part)] + reader.end()


WIRE = b': hello\r\nevent: a\r\ndata: {"x": 1}\r\n\r\nid: 7\ndata:{"y":\ndata: 2}\n\n\n\ndata: [DONE]\n\n'
EVENTS = ['{"x": 1}', '{"y":\n2}', "[DONE]"]


def test_comments_names_and_both_line_endings_are_understood() -> None:
    assert read(WIRE) == EVENTS


@given(st.lists(st.integers(min_value=0, max_value=len(WIRE)), max_size=8))
def test_cuts_at_any_byte_change_nothing(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(WIRE)]
    assert read(*(WIRE[start:end] for start, end in itertools.pairwise(cuts))) == EVENTS


def test_the_last_event_may_lack_its_blank_line() -> None:
    assert read(b"data: a\n\ndata: b") == ["a", "b"]


def test_a_line_without_end_is_refused() -> None:
    reader = EventReader()
    reader.feed(b"data: " + b"x" * (MAX_LINE - 10))
    with pytest.raises(ValueError, match="without end"):
        reader.feed(b"x" * 20)
