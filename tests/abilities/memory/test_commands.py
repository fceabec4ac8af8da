"""The list that /memory shows."""

from datetime import UTC, datetime

import pytest

from abilities.memory.commands import listed
from core.language.catalogue import speaking
from core.messaging.messages import OutboundKind, OutboundMessage
from core.tools.memory_access import Remembered
from notify.telegram.render import render


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "3. Ich rudere. (Mon 23 Nov 2026)"),
        ("de", "3. Ich rudere. (Mo., 23. Nov. 2026)"),
        ("zh", "3. Ich rudere.（2026年11月23日周一）"),
    ],
)
def test_each_line_has_its_day_in_the_persons_language(language: str, line: str) -> None:
    memory = Remembered(3, "Ich rudere.", datetime(2026, 11, 23, 8, tzinfo=UTC), "you told me")
    with speaking(language):
        assert listed([memory]).splitlines()[2] == line


def test_the_closing_is_no_part_of_the_last_memory() -> None:
    memory = Remembered(1, "I row.", datetime(2026, 11, 23, 8, tzinfo=UTC), "you told me")
    (part,) = render(OutboundMessage("out_1", OutboundKind.REPLY, listed([memory])))
    assert part.text.splitlines()[-1] == "Tell me what is wrong, or what to forget, in your own words."
