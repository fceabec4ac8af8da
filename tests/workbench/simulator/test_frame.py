"""The simulator's frame: the control API, its guards, faults, the journal and the event stream."""

import asyncio
import json
import re
from functools import partial

import aiohttp
import pytest
from structlog.testing import capture_logs

from tests.eventually import eventually, never
from tests.patience import PATIENCE
from tests.workbench.simulator.conftest import PUBLIC_URL, FakeGateway
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.base import Answer, NoAnswer
from workbench.simulator.config import SimulatorConfig, SystemClock
from workbench.simulator.journal import Journal


async def test_it_serves_on_a_free_port_and_names_the_three_api_urls(simulator: Simulator) -> None:
    assert simulator.url.startswith("http://127.0.0.1:")
    assert simulator.twilio_url == simulator.url + "/twilio"
    assert simulator.slack_url == simulator.url + "/slack/api/"
    assert simulator.telegram_url == simulator.url + "/telegram"


async def test_people_and_state_are_listed(simulator: Simulator, http: aiohttp.ClientSession) -> None:
    async with http.get(simulator.url + "/sim/people") as answer:
        people = await answer.json()
    assert [person["key"] for person in people] == ["ada", "grace"]
    async with http.get(simulator.url + "/sim/state") as answer:
        assert set(await answer.json()) == {"twilio", "slack", "telegram", "mail"}


async def test_until_it_is_open_people_wait_and_the_providers_answer(http: aiohttp.ClientSession) -> None:
    async with serve_simulator(SimulatorConfig(), SystemClock(), closed=True) as simulator:
        waiting = [asyncio.create_task(http.get(simulator.url + path)) for path in ("/", "/sim/people")]
        async with http.get(f"{simulator.telegram_url}/bot1:x/getMe") as answer:
            assert answer.status == 401
        assert not any(task.done() for task in waiting)
        simulator.open()
        for answered in await asyncio.gather(*waiting):
            assert answered.status == 200
            answered.release()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1"])
async def test_another_host_name_is_refused(simulator: Simulator, http: aiohttp.ClientSession, host: str) -> None:
    async with http.get(simulator.url + "/sim/state", headers={"Host": host}) as answer:
        assert answer.status in (400, 403)


async def test_another_pages_script_is_refused(simulator: Simulator, http: aiohttp.ClientSession) -> None:
    for origin in ("http://evil.example", "null"):
        async with http.post(simulator.url + "/sim/reset", headers={"Origin": origin}) as answer:
            assert answer.status == 403
    async with http.post(simulator.url + "/sim/reset", headers={"Origin": simulator.url}) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    ("body", "content_type", "sentence"),
    [
        (b"{}", "text/plain", "application/json"),
        (b"{", "application/json", "not JSON"),
        (b"[]", "application/json", "JSON object"),
        (b'{"endpoint": "", "kind": "reset_before"}', "application/json", '"endpoint"'),
        (b'{"endpoint": "x", "kind": "sometimes"}', "application/json", '"kind"'),
        (b'{"endpoint": "x", "kind": "rate_limit", "times": "3"}', "application/json", '"times"'),
        (b'{"endpoint": "x", "kind": "rate_limit", "share": 2}', "application/json", '"share"'),
        (b'{"endpoint": "x", "kind": "rate_limit", "colour": "red"}', "application/json", "colour"),
        (b'{"endpoint": "slack.chat.postMesage", "kind": "empty"}', "application/json", "mean slack.chat.postMessage?"),
        (b'{"endpoint": "pigeon.*", "kind": "empty"}', "application/json", "No endpoint is called pigeon.*."),
    ],
)
async def test_a_bad_fault_rule_gets_a_clear_sentence(
    simulator: Simulator, http: aiohttp.ClientSession, body: bytes, content_type: str, sentence: str
) -> None:
    headers = {"Content-Type": content_type}
    async with http.post(simulator.url + "/sim/faults", data=body, headers=headers) as answer:
        assert answer.status == 400
        assert sentence in (await answer.json())["error"]


async def test_fault_rules_are_added_listed_and_cleared(simulator: Simulator, http: aiohttp.ClientSession) -> None:
    rule = {"endpoint": "twilio.*", "kind": "rate_limit", "times": 0, "seconds": 7}
    async with http.post(simulator.url + "/sim/faults", json=rule) as answer:
        assert answer.status == 200
    async with http.get(simulator.url + "/sim/faults") as answer:
        [listed] = await answer.json()
    assert listed == {**rule, "share": 1.0, "status": 503, "location": ""}
    async with http.delete(simulator.url + "/sim/faults") as answer:
        assert await answer.json() == []


async def test_unknown_providers_and_people_are_said_so(simulator: Simulator, http: aiohttp.ClientSession) -> None:
    async with http.post(simulator.url + "/sim/pigeon/say", json={"person": "ada"}) as answer:
        assert answer.status == 404
    for name in simulator.providers:
        async with http.post(f"{simulator.url}/sim/{name}/say", json={"person": "eve"}) as answer:
            assert answer.status == 400
            assert "ada" in (await answer.json())["error"]
        async with http.post(f"{simulator.url}/sim/{name}/levitate", json={"person": "ada"}) as answer:
            assert answer.status == 400


async def test_a_call_to_the_gateway_is_made_at_its_real_address_and_recorded(
    simulator: Simulator, gateway: FakeGateway, http: aiohttp.ClientSession
) -> None:
    headers = {"Content-Type": "application/json"}
    outcome = await simulator.wire.call_gateway(
        "slack", "slack.event", "POST", PUBLIC_URL + "/hook?a=1#rc=3", headers, b'{"x": 1}', about="m1"
    )
    assert isinstance(outcome, Answer)
    assert outcome.ok
    assert [heard.url for heard in gateway.heard] == ["/hook?a=1"]
    async with http.get(simulator.url + "/sim/journal?provider=slack&about=m1") as answer:
        [call] = await answer.json()
    assert (call["direction"], call["status"], call["request"]["body"]) == ("in", 200, {"x": 1})
    async with http.get(f"{simulator.url}/sim/journal?after={call['number']}") as answer:
        assert await answer.json() == []
    async with http.get(simulator.url + "/sim/journal?after=x") as answer:
        assert answer.status == 400


async def test_the_reasons_for_no_answer_are_told_apart(simulator: Simulator, gateway: FakeGateway) -> None:
    async def silent(_: aiohttp.web.Request) -> aiohttp.web.StreamResponse:
        await never()
        return aiohttp.web.Response()

    async def cut(request: aiohttp.web.Request) -> aiohttp.web.StreamResponse:
        assert request.transport
        request.transport.abort()
        return aiohttp.web.Response()

    async def call(url: str, timeout: float) -> Answer | NoAnswer:
        return await simulator.wire.call_gateway("twilio", "twilio.x", "POST", url, {}, b"", "", timeout)

    gateway.respond = silent
    assert await call("/a", 1.0) == NoAnswer("timeout")
    gateway.respond = cut
    assert await call("/a", 10.0) == NoAnswer("reset")
    assert await call("http://127.0.0.1:1/a", 10.0) == NoAnswer("connect_failed")


async def test_the_event_stream_tells_of_changes_and_ends_with_the_simulator() -> None:
    async with aiohttp.ClientSession() as http:
        async with serve_simulator(SimulatorConfig(), SystemClock()) as simulator:
            answer = await http.get(simulator.url + "/sim/events")
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            assert await answer.content.readline() == b"event: changed\n"
            assert json.loads((await answer.content.readline()).removeprefix(b"data: ")) == {}
            await answer.content.readline()
            for _ in range(3):
                simulator.wire.journal.touch()
            assert await answer.content.readline() == b"event: changed\n"
        rest = await asyncio.wait_for(answer.content.read(), PATIENCE)
        assert rest.count(b"changed") <= 1


async def test_a_page_that_is_closed_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    async with aiohttp.ClientSession() as http, serve_simulator(SimulatorConfig(), SystemClock()) as simulator:
        for _ in range(3):
            answer = await http.get(simulator.url + "/sim/events")
            await answer.content.readline()
            answer.close()
            await eventually(partial(_nobody_listens, simulator.wire.journal), "the end of the stream")
    assert [record.getMessage() for record in caplog.records if record.name == "aiohttp.server"] == []


async def test_a_reset_leaves_every_provider_as_just_started(simulator: Simulator, http: aiohttp.ClientSession) -> None:
    async def state() -> object:
        async with http.get(simulator.url + "/sim/state") as answer:
            return await answer.json()

    fresh = await state()
    async with http.post(simulator.url + "/sim/twilio/say", json={"person": "ada", "text": "STOP"}) as answer:
        assert answer.status == 200
    assert await state() != fresh
    async with http.post(simulator.url + "/sim/reset", json={}) as answer:
        assert answer.status == 200
    assert await state() == fresh


async def test_a_background_failure_is_logged_and_ends_nothing(simulator: Simulator) -> None:
    async def fail() -> None:
        raise ValueError("on purpose")

    with capture_logs() as logs:
        await asyncio.wait([simulator.wire.spawn(fail(), "failing")])
        await simulator.wire.wait(0)
    assert [(entry["event"], entry["task"]) for entry in logs] == [("simulator_task_failed", "failing")]


async def test_the_steps_to_a_real_number_are_one_click_away(simulator: Simulator, http: aiohttp.ClientSession) -> None:
    async with http.get(simulator.url) as page:
        assert '<a href="/page/first-hour"' in await page.text()
    async with http.get(f"{simulator.url}/page/first-hour") as steps:
        text = await steps.text()
        assert steps.content_type == "text/html"
        assert "default-src 'none'" in steps.headers["Content-Security-Policy"]
    assert '<code class="language-sh">bin/onevalet init\n</code>' in text
    assert "<td>SMS</td>" in text
    assert "What comes in works at once: <code>docs/channels/sms.md</code>." in " ".join(text.split())
    assert "by the name of its setting, <code>docs/settings.md</code>;" in text
    assert not re.search(r'href="(?!https?://|/)', text), "other documents are not served here"


@pytest.mark.parametrize("path", ["/nowhere", "/sim/nowhere"])
async def test_a_browser_is_led_back_from_where_there_is_no_page(
    simulator: Simulator, http: aiohttp.ClientSession, path: str
) -> None:
    async with http.get(f"{simulator.url}{path}", headers={"Accept": "text/html,*/*;q=0.8"}) as answer:
        page = await answer.text()
        assert (answer.status, answer.content_type) == (404, "text/html")
        assert "style-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "There is no page at this address." in page
    assert '<a href="/">Back to the simulator</a>' in page
    assert '<link rel="stylesheet" href="/page/base.css">' in page
    async with http.get(f"{simulator.url}{path}") as answer:
        assert (answer.status, answer.content_type) == (404, "text/plain"), "a program reads what it did before"


def _nobody_listens(journal: Journal) -> bool:
    """Change something, which shows the simulator that a page has gone."""
    journal.touch()
    return not journal._listeners
