"""Files of a text: from our own account at Twilio only, in bounds, with our token shown to nobody else."""

import base64
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from channels.sms.media import TwilioMedia
from core.clock import Clock
from core.files.kinds import FileFailure
from core.files.types import FileNotFetched, SentFile
from core.http.address_guard import read_target
from core.json_types import Json
from core.messaging.messages import Media
from tests.channels.sms.builders import SID, TOKEN
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig

LIMIT = 100_000
REAL = "https://api.twilio.com"
FILE = f"/2010-04-01/Accounts/{SID}/Messages/MM{'b' * 32}/Media/ME{'c' * 32}"


class FakeTwilio:
    """Answers the media URL as a test says, and remembers who showed a token where."""

    def __init__(self) -> None:
        self.url = ""
        self.location = ""
        self.body = b"bytes"
        self.seen: list[web.Request] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        if request.path.endswith(FILE) and self.location:
            return web.Response(status=307, headers={"Location": self.location.format(url=self.url)})
        return web.Response(body=self.body, content_type="image/png")


@pytest.fixture
async def fake() -> AsyncIterator[FakeTwilio]:
    made = FakeTwilio()
    runner = web.ServerRunner(web.Server(made.answer))  # type: ignore[arg-type]
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


def at(url: str) -> Media:
    return Media(url=url, content_type="image/jpeg")


@asynccontextmanager
async def closing(media: TwilioMedia) -> AsyncIterator[TwilioMedia]:
    """Close it at the end."""
    yield media
    await media.close()


def media_of(fake: FakeTwilio) -> AbstractAsyncContextManager[TwilioMedia]:
    return closing(TwilioMedia(account_sid=SID, auth_token=TOKEN, api_url=fake.url))


async def why_not(media: TwilioMedia, url: str) -> FileFailure:
    """Return why a file is not fetched."""
    with pytest.raises(FileNotFetched) as refused:
        await media.fetch(at(url), LIMIT)
    return refused.value.failure


async def test_a_file_that_a_person_sent_is_fetched_through_twilios_redirect() -> None:
    config = SimulatorConfig()
    async with serve_simulator(config, Clock(), "127.0.0.1", 0) as simulator:
        url = await _send_picture(simulator)
        ours = {"account_sid": config.twilio.account_sid, "auth_token": config.twilio.auth_token}
        async with closing(TwilioMedia(**ours, api_url=simulator.twilio_url)) as media:
            assert await media.fetch(at(url), LIMIT) == SentFile("image/png", b"a picture")
            assert await why_not(media, url[:-1] + ("0" if url[-1] != "0" else "1")) is FileFailure.GONE
        wrong = ours | {"auth_token": "wrong"}
        async with closing(TwilioMedia(**wrong, api_url=simulator.twilio_url)) as stranger:
            assert await why_not(stranger, url) is FileFailure.GONE


async def _send_picture(simulator: Simulator) -> str:
    """Let Ada send a picture; return its media URL, as the webhook would."""
    simulator.wire.connect_gateway("http://127.0.0.1:9", "")
    picture: Json = {"content_type": "image/png", "data": base64.b64encode(b"a picture").decode()}
    sent = await simulator.providers["twilio"].act("ada", "say", {"text": "", "media": [picture]})
    assert isinstance(sent, dict)
    config = simulator.wire.config.twilio
    auth = {"Authorization": aiohttp.encode_basic_auth(config.account_sid, config.auth_token)}
    base = f"{simulator.twilio_url}/2010-04-01/Accounts/{config.account_sid}/Messages/{sent['sid']}/Media"
    async with aiohttp.ClientSession(headers=auth) as session, session.get(f"{base}.json") as answer:
        listed = await answer.json()
    return f"{base}/{listed['media_list'][0]['sid']}"


@pytest.mark.parametrize(
    "url",
    [
        REAL + FILE.replace(SID, "AC" + "d" * 32),
        REAL + FILE + "/../../../x",
        REAL + FILE + "?x=1",
        REAL + FILE + "#x",
        REAL + FILE + ".json",
        "http://api.twilio.com" + FILE,
        "https://api.twilio.com:8443" + FILE,
        "https://api.twilio.com@evil.example" + FILE,
        "https://evil.example" + FILE,
        REAL + ".evil.example" + FILE,
        "https://evil.example/https://api.twilio.com" + FILE,
        "https://127.0.0.1" + FILE,
        REAL + FILE + "\n",
        REAL,
        "",
        REAL + FILE.replace("/Media/", "/media/"),
        REAL + FILE.replace("2010-04-01", "2010-04-01/%2e%2e/x"),
        "https://mms.twiliocdn.com/x",
    ],
)
async def test_a_url_that_is_not_of_our_account_at_twilio_is_not_fetched(url: str) -> None:
    async with closing(TwilioMedia(account_sid=SID, auth_token=TOKEN)) as media:
        assert await why_not(media, url) is FileFailure.GONE


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:1/",
        "http://localhost/",
        "https://evil.example/x",
        "http://mms.twiliocdn.com/x",
        "https://mms.twiliocdn.com:8443/x",
        "https://mms.twiliocdn.com.evil.example/x",
        "https://xmms.twiliocdn.com/",
        "https://mms.twiliocdn.com@127.0.0.1/",
        "file:///etc/passwd",
        "https://169.254.169.254/",
    ],
)
async def test_a_redirect_away_from_twilio_is_not_followed(fake: FakeTwilio, location: str) -> None:
    fake.location = location
    async with media_of(fake) as media:
        assert await why_not(media, fake.url + FILE) is FileFailure.UNREACHABLE
    assert len(fake.seen) == 1


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://mms.twiliocdn.com/AC1/x", True),
        ("https://media.twiliocdn.com/AC1/x", True),
        ("https://api.twilio.com/2010-04-01/x", True),
        ("https://api.twilio.com.evil.example/x", False),
        ("http://api.twilio.com/x", False),
        ("http://mms.twiliocdn.com/x", False),
        ("https://twiliocdn.com/x", False),
        ("https://s3-external-1.amazonaws.com/media.twiliocdn.com/x", False),
    ],
)
def test_where_the_real_twilio_may_lead(url: str, may: bool) -> None:
    assert TwilioMedia(account_sid=SID, auth_token=TOKEN).may_go(read_target(url)) is may


async def test_the_token_is_shown_to_the_api_and_kept_on_its_own_host_only(fake: FakeTwilio) -> None:
    fake.location = "{url}/there"
    async with media_of(fake) as media:
        await media.fetch(at(fake.url + FILE), LIMIT)
    first, _ = fake.seen
    assert first.headers["Authorization"] == aiohttp.encode_basic_auth(SID, TOKEN)


async def test_a_file_over_the_limit_is_not_taken(fake: FakeTwilio) -> None:
    fake.body = bytes(LIMIT)
    async with media_of(fake) as media:
        assert len((await media.fetch(at(fake.url + FILE), LIMIT)).body) == LIMIT
        fake.body += b"x"
        assert await why_not(media, fake.url + FILE) is FileFailure.TOO_LARGE
