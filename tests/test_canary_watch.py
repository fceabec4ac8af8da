"""The watch over canaries sees what is logged, and lets be what is printed."""

import pytest

from tests.canary_watch import leaks

NUMBER = "2026-01-01 12:00:00 [info     ] sent    to=+15550000001"
TOKEN = "WARNING  x:x.py:5 token xoxb-secret-bot-token"


@pytest.mark.parametrize(
    ("section", "line", "leaked"),
    [
        ("Captured stdout call", NUMBER, True),
        ("Captured stdout setup", NUMBER, False),  # was looked at then
        ("Captured stdout call", '{"event": "sent", "to": "15550000001"}', True),
        ("Captured log call", TOKEN, True),
        ("Captured stdout call", "sms +15550000001 is in, as member", False),  # said to who asked
        ("Captured stdout call", "2026-01-01 12:00:00 [info     ] sent    message=msg_1", False),
    ],
)
def test_promise_14_a_test_that_logs_a_canary_fails(section: str, line: str, leaked: bool) -> None:
    report = pytest.TestReport("a", ("a", 1, "a"), {}, "passed", None, "call", [(section, f"{line}\nmore")])
    assert leaks(report) == ([line] if leaked else [])
