"""What is written into the prompt by a format is read back by it."""

from datetime import UTC, datetime

from core.people.tenant import TurnTenant
from core.turns.prompt import context_message
from core.turns.prompt_lines import NOW, PENDING, PENDING_BY_CODE
from workbench.demo.transcript import pending_of, read_lines


def test_the_prompts_date_is_read_back() -> None:
    message = context_message(TurnTenant("ann", timezone="Asia/Tokyo"), datetime(2026, 11, 22, 20, tzinfo=UTC))
    [line] = read_lines(NOW, message.text)
    assert line == {"weekday": "Monday", "date": "2026-11-23", "time": "05:00", "zone": "Asia/Tokyo"}


def test_a_pending_action_is_read_back_and_a_fact_is_none() -> None:
    action = {"summary": "Mail sam", "action": 'SendMail {"to": "sam"}'}
    text = "\n".join(
        ["- wife: Ada; likes tea", PENDING.format(code="2AB", **action), PENDING_BY_CODE.format(code="3C", **action)]
    )
    assert [line["code"] for line in read_lines(PENDING, text)] == ["2AB", "3C"]
    assert pending_of(text) == {"2AB": {"to": "sam"}}, "words decide the first only"
