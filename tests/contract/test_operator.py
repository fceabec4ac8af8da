"""The contract towards who runs us: setup, doctor, and silence about secrets."""

import logging

import pytest
import structlog

from channels.slack.manifest import SCOPES
from tests.contract.canaries import CANARIES, LogWatch, leaks, marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import NOWHERE, PUBLIC_URL, WORLD, ChannelHarness, MemorySink, Sink, exempt, reply
from workbench.simulator.app import serve_simulator
from workbench.simulator.config import SystemClock
from workbench.simulator.faults import FaultKind


@exempt(slack="a bot token may change nothing at Slack: setup says what to paste and switch on, the next case")
async def test_setup_shows_before_and_after_and_changes_nothing_twice(harness: ChannelHarness) -> None:
    # The harness has run it once already: spoil that, as an operator with another program does.
    await harness.simulator.providers[harness.provider].reset()
    changes = await harness.channel.setup()
    assert changes
    assert all(change.what and change.before != change.after for change in changes)
    made = len(harness.simulator.wire.journal.calls())
    assert tuple(await harness.channel.setup()) == ()
    again = [call for call in harness.simulator.wire.journal.calls(after=made) if call.direction == "out"]
    assert [call.endpoint for call in again if _writes(call.endpoint, call.request)] == []  # type: ignore[arg-type]


@exempt(sms="setup changes things at Twilio, the case before", telegram="setup changes things, the case before")
async def test_setup_says_what_to_do_by_hand_and_says_it_again(harness: ChannelHarness) -> None:
    first = await harness.channel.setup()
    assert first
    assert all(change.what and change.after for change in first)
    assert tuple(await harness.channel.setup()) == tuple(first)
    called = {
        call.endpoint for call in harness.simulator.wire.journal.calls(provider="slack") if call.direction == "out"
    }
    assert called <= {"slack.auth.test", "slack.bots.info"}


async def test_doctor_finds_a_channel_well(harness: ChannelHarness) -> None:
    if harness.name == "slack":
        await harness.act("set", scopes=[*SCOPES])
    checks = await harness.channel.check()
    assert checks
    assert [check for check in checks if not check.ok] == []


async def test_doctor_explains_a_wrong_token_in_one_line_with_its_fix(harness: ChannelHarness) -> None:
    wrong = harness.make_channel(wrong_token=True)
    (check,) = await wrong.check()
    await wrong.stop()
    assert not check.ok
    assert {"sms": "TWILIO_AUTH_TOKEN", "slack": "SLACK_BOT_TOKEN", "telegram": "TELEGRAM_BOT_TOKEN"}[
        harness.name
    ] in check.fix
    for line in (check.what, check.detail, check.fix):
        assert "\n" not in line
        assert leaks(line) == []


async def test_doctor_explains_a_provider_that_is_away(harness: ChannelHarness) -> None:
    harness.misbehave(FaultKind.RESET_BEFORE, times=0, endpoint=f"{harness.provider}.*")
    (check,) = await harness.channel.check()
    assert not check.ok
    assert check.detail
    assert check.fix


@exempt(slack="a bot token cannot see the request URL")
async def test_doctor_finds_a_webhook_that_points_elsewhere(harness: ChannelHarness) -> None:
    await harness.simulator.providers[harness.provider].reset()
    bad = [check for check in await harness.channel.check() if not check.ok]
    assert len(bad) == 1
    assert "webhook" in bad[0].what
    assert "channels setup" in bad[0].fix


@pytest.mark.parametrize("how", ["structlog", "logging", "standard error"])
def test_the_ear_that_every_case_has_hears(how: str, log_watch: LogWatch, capfd: pytest.CaptureFixture[str]) -> None:
    heard = LogWatch()
    heard.begin()
    try:
        raise ValueError(marked("a cause"))
    except ValueError as error:
        match how:
            case "structlog":
                structlog.get_logger().warning("something", exc_info=error)
            case "logging":
                logging.getLogger("somebody").info("took %s", CANARIES[1])
            case _:
                print(marked("an error"))  # noqa: T201
    written = heard.end() + capfd.readouterr().out
    assert len(leaks(written)) == 1
    log_watch.stream.truncate(log_watch.stream.seek(0))  # the case's own ear has heard it as well


async def test_promise_14_no_log_line_holds_a_secret_when_everything_fails(
    harness: ChannelHarness, log_watch: LogWatch
) -> None:
    harness.sink.failures = 1
    genuine = await harness.genuine()
    harness.sink.inner = _Broken()  # type: ignore[assignment]
    assert await harness.post(genuine) == 500
    assert "request_failed" in log_watch.events()
    assert leaks(log_watch.stream.getvalue()) == []


@pytest.mark.parametrize("direction", ["in", "out"])
async def test_promise_14_each_way_alone_is_silent_about_its_token(
    channel: str, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker may send before any channel is opened in it: neither way may rely on the other's silencing.
    for name in ("httpx", "telegram", "onevalet.slack", "onevalet.twilio"):
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
    async with serve_simulator(WORLD, SystemClock()) as simulator:
        harness = HARNESSES[channel](simulator, Sink(MemorySink()))
        if direction == "in":
            assert (await harness.channel.check())[0].ok
        else:
            simulator.wire.connect_gateway(NOWHERE, PUBLIC_URL)
            await harness.say(marked("hello"))
            (part,) = harness.sender.render(reply(marked("hello")))
            await harness.sender.send(part, harness.target())
        await harness.channel.stop()
        await harness.sender.close()


class _Broken:
    """A store with a bug."""

    async def accept(self, inbound: object) -> object:
        raise RuntimeError("a bug")


def _writes(endpoint: str, request: dict[str, object]) -> bool:
    if endpoint.startswith("twilio."):
        return request["method"] != "GET"
    return not endpoint.removeprefix("telegram.").startswith("get")


def test_every_channel_is_here() -> None:
    assert set(HARNESSES) == {"sms", "slack", "telegram", "email"}
