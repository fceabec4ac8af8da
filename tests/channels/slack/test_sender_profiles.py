"""When Slack is asked who somebody is."""

from channels.slack.sender_profiles import ASK_AGAIN, SenderProfiles
from providers.slack.client import SlackApi
from tests.contract.harness import MemorySink


def test_a_person_is_asked_about_at_most_once_an_hour() -> None:
    now = [5.0]
    profiles = SenderProfiles(
        SlackApi(bot_token="xoxb", api_url="http://127.0.0.1:9/api/"), MemorySink(), lambda: now[0]
    )
    assert [profiles.is_due("T1", "U1"), profiles.is_due("T1", "U1"), profiles.is_due("T1", "U2")] == [
        True,
        False,
        True,
    ]
    now[0] += ASK_AGAIN - 1
    assert not profiles.is_due("T1", "U1")
    now[0] += 1
    assert [profiles.is_due("T1", "U1"), profiles.is_due("T1", "U1")] == [True, False]
