"""Files that came with a text: fetched from Twilio only, and our credentials sent to Twilio's API only.

docs: messaging/api/media-resource. A media URL requires basic authentication, and redirects to a URL on another host
    that is valid for four hours without it.
"""

import re
from urllib.parse import urlsplit

import aiohttp

from channels.provider_files import ProviderFiles
from core.files.kinds import FileFailure
from core.files.types import FileNotFetched, SentFile
from core.http.address_guard import Target
from core.messaging.messages import Media
from providers.sms.wire import REAL_API_URL

MEDIA_HOSTS = frozenset({"mms.twiliocdn.com", "media.twiliocdn.com"})


class TwilioMedia:
    """Fetch the files of inbound messages. `api_url` as in `TwilioApi`."""

    def __init__(self, *, account_sid: str, auth_token: str, api_url: str = REAL_API_URL) -> None:
        api_url = api_url.rstrip("/")
        private = [] if api_url == REAL_API_URL else [urlsplit(api_url).netloc]
        self._files = ProviderFiles(api_url, private, _is_media_host)
        self._headers = {"Authorization": aiohttp.encode_basic_auth(account_sid, auth_token)}
        self._ours = re.compile(
            re.escape(f"{api_url}/2010-04-01/Accounts/{account_sid}/Messages/")
            + "(SM|MM)[0-9a-fA-F]{32}/Media/ME[0-9a-fA-F]{32}"
        )

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Fetch a file. Raises `FileNotFetched`; a URL outside our account is never requested."""
        if not self._ours.fullmatch(media.url):
            raise FileNotFetched(FileFailure.GONE)
        return await self._files.get(media.url, self._headers, max_bytes)

    async def close(self) -> None:
        await self._files.close()

    def may_go(self, target: Target) -> bool:
        """Return whether a request may go there."""
        return self._files.may_go(target)


def _is_media_host(target: Target) -> bool:
    return target.scheme == "https" and target.port == 443 and target.host in MEDIA_HOSTS
