"""Files of Slack messages: fetched from Slack's file server only, with the bot's token.

docs: reference/objects/file-object, `url_private`. Without the token, or the scope `files:read`, Slack answers 200
with its sign-in page.
"""

from urllib.parse import urlsplit

from core.documents.kinds import FileFailure
from core.errors import ToolFailed
from core.files.fetching import ProviderFiles
from core.files.types import FileNotFetched, SentFile
from core.http.address_guard import Barred, read_target
from core.messaging.messages import Media
from providers.slack.wire import REAL_API_URL

FILES_URL = "https://files.slack.com"


class SlackMedia:
    """Fetch the files of inbound messages. `api_url` as in `SlackApi`."""

    def __init__(self, *, bot_token: str, api_url: str = REAL_API_URL) -> None:
        emulated = api_url != REAL_API_URL
        parts = urlsplit(api_url)
        self._home = read_target(f"{parts.scheme}://{parts.netloc}" if emulated else FILES_URL)
        self._files = ProviderFiles(str(self._home.url), [parts.netloc] if emulated else [])
        self._headers = {"Authorization": f"Bearer {bot_token}"}

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Fetch one file. Raises `FileNotFetched`; the token goes to Slack's file server and to nobody else."""
        if not self._is_slacks(media.url):
            raise FileNotFetched(FileFailure.GONE)
        file = await self._files.get(media.url, self._headers, max_bytes)
        if file.content_type == "text/html" and media.content_type != "text/html":
            raise FileNotFetched(FileFailure.GONE)  # the sign-in page
        return SentFile(media.content_type or file.content_type, file.body)

    async def close(self) -> None:
        await self._files.close()

    def _is_slacks(self, url: str) -> bool:
        try:
            target = read_target(url)
        except (Barred, ToolFailed, ValueError):
            return False
        home = self._home
        return (target.scheme, target.host, target.port) == (home.scheme, home.host, home.port)
