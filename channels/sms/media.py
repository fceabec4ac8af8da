"""Files that came with a text: fetched from Twilio only, and our credentials sent to Twilio's API only.

docs: messaging/api/media-resource. A media URL requires basic authentication, and redirects to one on another
host that is valid for four hours without.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

import aiohttp

from core.errors import ToolFailed
from core.http.address_guard import Target, read_target
from core.http.client import GuardedClient
from core.messaging.messages import Media
from providers.sms.wire import MAX_MEDIA, REAL_API_URL

MAX_BYTES = 5 * 1024 * 1024
"""Of all files of one message together."""
MEDIA_HOSTS = frozenset({"mms.twiliocdn.com", "media.twiliocdn.com"})

_NOT_OURS = "That file does not lie with our Twilio account."


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A fetched file. `content_type` is what the server states now, lower case, without parameters."""

    content_type: str
    body: bytes


class TwilioMedia:
    """Fetch the files of inbound messages. `api_url` as in `TwilioApi`."""

    def __init__(self, *, account_sid: str, auth_token: str, api_url: str = REAL_API_URL) -> None:
        api_url = api_url.rstrip("/")
        self._api = read_target(api_url)
        self._client = GuardedClient(allowed_hosts=[] if api_url == REAL_API_URL else [urlsplit(api_url).netloc])
        self._authorization = aiohttp.encode_basic_auth(account_sid, auth_token)
        self._ours = re.compile(
            re.escape(f"{api_url}/2010-04-01/Accounts/{account_sid}/Messages/")
            + "(SM|MM)[0-9a-fA-F]{32}/Media/ME[0-9a-fA-F]{32}"
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def fetch(self, media: Sequence[Media]) -> list[MediaFile]:
        """Fetch a message's files. Raises `ToolFailed` for a file that is not ours, gone, or too large."""
        if len(media) > MAX_MEDIA:
            raise ToolFailed(f"A message has at most {MAX_MEDIA} files.")
        if not all(self._ours.fullmatch(item.url) for item in media):
            raise ToolFailed(_NOT_OURS)
        files: list[MediaFile] = []
        left = MAX_BYTES
        for item in media:
            file = await self._fetch(item.url, left)
            left -= len(file.body)
            files.append(file)
        return files

    async def close(self) -> None:
        await self._client.close()

    async def _fetch(self, url: str, limit: int) -> MediaFile:
        answer = await self._client.request(
            "GET", url, headers={"Authorization": self._authorization}, max_bytes=max(limit, 1), may_go=self._may_go
        )
        if answer.status != 200:
            raise ToolFailed("That file is not there any more.")
        if answer.cut or len(answer.body) > limit:
            raise ToolFailed("The files of that message are larger than 5 MB together.")
        return MediaFile(answer.content_type, answer.body)

    def _may_go(self, target: Target) -> bool:
        if target.scheme == "https" and target.port == 443 and target.host in MEDIA_HOSTS:
            return True
        api = self._api
        return (target.scheme, target.host, target.port) == (api.scheme, api.host, api.port)
