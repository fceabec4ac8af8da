"""Downloads from a provider that lies, stalls, floods and leads away: one plain sentence, and no secret elsewhere."""

import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import channels.provider_files
import core.files.intake
from channels.provider_files import ProviderFiles
from channels.slack.media import SlackMedia
from channels.sms.media import TwilioMedia
from channels.telegram.downloads import TelegramDownloads
from core.files.types import FileNotFetched
from core.http.guarded_client import Limits
from tests.abilities.documents import samples
from tests.contract.canaries import MARK, SLACK, TELEGRAM, TWILIO
from tests.contract.hostile_provider import MB, Answer, HostileProvider, bomb, hostile_provider, plain, raw
from tests.contract.person_files import Sender, open_sender
from tests.core.builders import says

pytestmark = pytest.mark.slow

NAME = "“IMG_1.jpg”"
TOO_LARGE = "The file {} is too large: I can take up to 20 MB."
AGAIN = "I could not download the file {}. Please send it again in a moment."
GONE = "I cannot get the file {}: it no longer exists."
DAMAGED = "I cannot read the file {}: it is damaged, or not what it claims to be."
UNKNOWN = "I cannot read the file {}: I do not know that kind of file."
PAGE = b"<!DOCTYPE html><title>Sign in to Slack</title>"
GZIP = "Content-Encoding: gzip"

ANSWERS: dict[str, tuple[Callable[[HostileProvider], Answer], str]] = {
    "endless": (lambda provider: provider.endless, TOO_LARGE),
    "drip": (lambda provider: provider.drip, AGAIN),
    "gzip bomb": (lambda _: raw(plain(bomb(2000), GZIP)), TOO_LARGE),
    "gzip in gzip": (lambda _: raw(plain(gzip.compress(bomb(2000)), "Content-Encoding: gzip, gzip")), AGAIN),
    "gzip cut short": (lambda _: raw(plain(gzip.compress(bytes(9999))[:20], GZIP)), AGAIN),
    "gzip that is none": (lambda _: raw(plain(b"\xff\xd8\xff", GZIP)), AGAIN),
    "unknown encoding": (lambda _: raw(plain(b"\x00", "Content-Encoding: br")), AGAIN),
    "longer than it says": (lambda _: raw(plain(b"\xff\xd8\xff" + bytes(MB), length=3)), AGAIN),
    "shorter than it says": (lambda _: raw(plain(b"\xff\xd8\xff", length=1000)), AGAIN),
    "says 30 MB": (lambda _: raw(plain(b"\xff\xd8\xff", length=30 * MB)), TOO_LARGE),
    "a length that is none": (lambda _: raw(plain(b"\xff\xd8\xff", length="-1")), AGAIN),
    "no HTTP at all": (lambda _: raw(b"\xff\xd8\xff" * 1000), AGAIN),
    "a header of 1 MB": (lambda _: raw(plain(b"\xff\xd8\xff", "X: " + "x" * MB)), AGAIN),
    "10,000 headers": (lambda _: raw(plain(b"\xff\xd8\xff", *(f"X{n}: x" for n in range(10_000)))), AGAIN),
    "nothing": (lambda _: raw(b""), AGAIN),
    "an empty file": (lambda _: raw(plain(b"")), UNKNOWN),
    "a program": (lambda _: raw(plain(b"\x7fELF\x02" + bytes(100), "Content-Type: image/jpeg")), UNKNOWN),
    "404": (lambda _: raw(plain(PAGE, status="404 Not Found")), GONE),
    "403": (lambda _: raw(plain(PAGE, status="403 Forbidden")), GONE),
    "500": (lambda _: raw(plain(PAGE, status="500 Oops")), AGAIN),
    "204": (lambda _: raw(plain(b"", status="204 No Content")), GONE),
    "206": (lambda _: raw(plain(b"\xff\xd8\xff", status="206 Partial Content")), GONE),
}
"""How a download is answered, and what the person reads."""


NAMES = {
    "../../../etc/passwd": "passwd",
    "C:\\Windows\\System32\\x.pdf": "x.pdf",
    "invoice\u202efdp.exe": "invoicefdp.exe",
    "a\x00b\x1b[31m.pdf": "ab[31m.pdf",
    "x" * 5000 + ".pdf": "x" * 75 + "….pdf",
    "{limit} %s {name} \n> quoted.pdf": "{limit} %s {name}  > quoted.pdf",
}
"""Names of files, and how they are shown."""
LOCATIONS = (
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/",
    "http://[::1]/",
    "https://evil.example/",
    "file:///etc/passwd",
    "{trap}/elsewhere",
    "//{trap_host}/elsewhere",
    "{own}/elsewhere?again",
)


@pytest.fixture
async def sender(
    channel: str, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Sender]:
    monkeypatch.setattr(channels.provider_files, "_LIMITS", Limits(total=3.0, redirects=3))
    monkeypatch.setattr(core.files.intake, "_TRIES", 1)
    async with open_sender(channel, database_url, tmp_path / "files") as opened:
        yield opened


@asynccontextmanager
async def handing_out(sender: Sender, answer: Answer) -> AsyncIterator[HostileProvider]:
    """Let files be handed out so."""
    channel = sender.system.delivery.channel
    async with hostile_provider(answer) as provider:
        url = channel.simulator.wire.url = provider.url
        fetcher: Any
        if channel.name == "sms":
            account = {"account_sid": TWILIO.account_sid, "auth_token": TWILIO.auth_token}
            fetcher = TwilioMedia(**account, api_url=f"{url}/twilio")
        elif channel.name == "slack":
            fetcher = SlackMedia(bot_token=SLACK.bot_token, api_url=f"{url}/slack/api/")
        else:
            fetcher = TelegramDownloads(bot_token=TELEGRAM.bot_token, api_url=f"{url}/telegram")
        sender.fetcher = fetcher
        try:
            yield provider
        finally:
            await fetcher.close()


async def reads(sender: Sender, name: str = "IMG_1.jpg", kind: str = "image/jpeg") -> str:
    """Let the person send a file; return what they read."""
    read = await sender.sends(samples.picture(), name, kind)
    assert sender.system.model.requests == [], "no model was asked"
    return read


def said(sentence: str, channel: str) -> str:
    """Return the sentence as it is said on a channel: a phone's pictures have no names, nor have Telegram's photos."""
    return sentence.format(NAME if channel == "slack" else "1")


async def test_each_hostile_answer_ends_in_one_sentence(channel: str, sender: Sender) -> None:
    async with handing_out(sender, raw(b"")) as provider:
        for name, (answer, sentence) in ANSWERS.items():
            provider.answer = answer(provider)
            assert await reads(sender) == said(sentence, channel), name
        assert provider.sent < 60 * MB, "no more was taken than a file may have"


async def test_a_redirect_elsewhere_is_not_followed(channel: str, sender: Sender) -> None:
    async with handing_out(sender, raw(b"")) as provider, hostile_provider(raw(plain(samples.picture()))) as trap:
        for location in LOCATIONS:
            to = location.format(trap=trap.url, trap_host=trap.url.removeprefix("http://"), own=provider.url)
            provider.answer = raw(plain(b"", f"Location: {to}", status="302 Found"))
            assert await reads(sender) == said(AGAIN, channel), location
        assert trap.asked == []


async def test_credentials_never_follow_to_another_host(channel: str) -> None:
    """Twilio leads to hosts that take no credentials; a redirect to them is followed without any."""
    async with hostile_provider(raw(b"")) as provider, hostile_provider(raw(plain(b"bytes"))) as trap:
        hosts = [url.removeprefix("http://") for url in (provider.url, trap.url.replace("127.0.0.1", "localhost"))]
        files = ProviderFiles(provider.url, hosts, lambda target: target.host == "localhost")
        provider.answer = raw(plain(b"", f"Location: http://{hosts[1]}/elsewhere", status="302 Found"))
        headers = {"Authorization": f"Bearer {MARK}", "Cookie": MARK, "X-Token": MARK}
        assert (await files.get(f"{provider.url}/elsewhere", headers, 100)).body == b"bytes"
        assert MARK in provider.asked[0]
        assert [MARK in head for head in trap.asked] == [False]
        await files.close()


@pytest.mark.exempt(sms="Twilio refuses a bad token by 401", telegram="Telegram refuses a bad token by 401")
@pytest.mark.parametrize("status", ["200 OK", "302 Found"])
async def test_slacks_sign_in_page_is_no_file(channel: str, sender: Sender, status: str) -> None:
    async with handing_out(sender, raw(b"")) as provider:
        headers = ["Content-Type: text/html; charset=utf-8", "Location: https://team.slack.com/?redir=%2Ffiles"]
        provider.answer = raw(plain(PAGE, *headers, status=status))
        assert await reads(sender) == said(GONE if status == "200 OK" else AGAIN, channel)


async def test_a_body_of_another_type_than_told_is_read_as_what_it_is(channel: str, sender: Sender) -> None:
    async with handing_out(sender, raw(plain(samples.pdf(["Words"]), "Content-Type: image/jpeg"))):
        assert await sender.sends(samples.picture(), "IMG_1.jpg", "image/jpeg", says("Words.")) == "Words."
        assert "a PDF of 1 page" in sender.shown.text
        assert sender.shown.pictures == ()


@pytest.mark.slow
@pytest.mark.exempt(sms="files of a text have no names")
async def test_a_strange_name_is_told_without_its_tricks(sender: Sender) -> None:
    for name, shown in NAMES.items():
        read = await sender.sends(b"%PDF-1.7 but not really", name, "application/pdf")
        assert read == DAMAGED.format(f"“{shown}”")
        assert sender.system.model.requests == []


async def test_a_body_over_the_limit_is_refused_without_the_rest() -> None:
    async with hostile_provider(raw(b"")) as provider:
        provider.answer = provider.endless
        files = ProviderFiles(provider.url, [provider.url.removeprefix("http://")])
        with pytest.raises(FileNotFetched, match="too_large"):
            await files.get(f"{provider.url}/elsewhere", {}, MB)
        await files.close()
        assert provider.sent < 12 * MB, "what the system's buffers hold, and no more"
