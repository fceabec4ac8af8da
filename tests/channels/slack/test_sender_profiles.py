"""When Slack is asked who somebody is."""

from dataclasses import dataclass, field
from zoneinfo import available_timezones

import pytest

from channels.slack import sender_profiles
from channels.slack.sender_profiles import ASK_AGAIN, SenderProfiles
from core.json_types import JsonObject
from core.messaging.channels import Received
from core.messaging.inbound import Inbound
from core.messaging.messages import SenderProfile
from providers.slack.client import SlackApi
from tests.contract.harness import MemorySink


class ToldSlackApi(SlackApi):
    """Slack, which tells the same of everybody."""

    async def call(
        self, method: str, arguments: JsonObject | None = None, *, get: bool = False, token: str | None = None
    ) -> JsonObject:
        """Answer `users.info`: a locale only if it is asked for (docs.slack.dev/reference/methods/users.info)."""
        locale: JsonObject = {"locale": "de-DE"} if (arguments or {}).get("include_locale") else {}
        return {"ok": True, "user": {"real_name": "Ada", "tz": "Europe/Berlin", **locale}}


@dataclass(slots=True)
class ProfileSink(MemorySink):
    """An inbox that records where people are, and what they speak."""

    zones: list[str | None] = field(default_factory=list)
    languages: list[str | None] = field(default_factory=list)

    async def accept(self, inbound: Inbound) -> Received:
        """Record it."""
        assert isinstance(inbound, SenderProfile)
        self.zones.append(inbound.timezone)
        self.languages.append(inbound.language)
        return await MemorySink.accept(self, inbound)


async def test_the_timezones_of_this_machine_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def reading() -> set[str]:
        read.append(1)
        return available_timezones()

    monkeypatch.setattr(sender_profiles, "available_timezones", reading)
    sender_profiles.timezones.cache_clear()
    sink = ProfileSink()
    profiles = SenderProfiles(ToldSlackApi(bot_token="xoxb", api_url="http://127.0.0.1:9/api/"), sink)
    for user in ("U1", "U2", "U3"):
        await profiles.ask("T1", user)
    assert sink.zones == ["Europe/Berlin"] * 3
    assert sink.languages == ["de-DE"] * 3
    assert len(read) == 1


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


@pytest.mark.parametrize("seconds", [0.1, 86.014082089, 1336.71619497])
def test_a_person_is_asked_about_at_first_however_long_the_machine_has_run(seconds: float) -> None:
    """The seconds are those at which a sum that is rounded came out later than its terms."""
    api = SlackApi(bot_token="xoxb", api_url="http://127.0.0.1:9/api/")
    assert SenderProfiles(api, MemorySink(), lambda: seconds).is_due("T1", "U1")
