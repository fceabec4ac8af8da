"""Files of Slack messages: fetched from Slack's file server only, with the bot's token.

docs: reference/objects/file-object, `url_private`; if a message has only a file's id, files.info returns it. Without
    the token, or the scope `files:read`, Slack answers 200 with its sign-in page.
"""

from urllib.parse import urlsplit

import structlog
from yarl import URL

from channels.fields import object_at, text_at
from channels.provider_files import ProviderFiles
from core.errors import RequestRefused, ToolFailed
from core.files.kinds import FileFailure
from core.files.types import FileNotFetched, SentFile
from core.http.address_guard import Barred, read_target
from core.json_types import read_json
from core.messaging.messages import Media
from providers.slack.wire import REAL_API_URL, STUB

FILES_URL = "https://files.slack.com"
_MAX_INFO = 1024 * 1024
"""Size limit of an answer of files.info, which may include a preview of the text."""

_log = structlog.get_logger()


class SlackMedia:
    """Fetch the files of inbound messages. `api_url` as in `SlackApi`."""

    def __init__(self, *, bot_token: str, api_url: str = REAL_API_URL) -> None:
        emulated = api_url != REAL_API_URL
        parts = urlsplit(api_url)
        self._home = read_target(f"{parts.scheme}://{parts.netloc}" if emulated else FILES_URL)
        self._files = ProviderFiles(str(self._home.url), [parts.netloc] if emulated else [])
        self._api = ProviderFiles(api_url, [parts.netloc] if emulated else [])
        self._info_url = f"{api_url.rstrip('/')}/files.info"
        self._headers = {"Authorization": f"Bearer {bot_token}"}

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Fetch a file. Raises `FileNotFetched`; the token is sent only to Slack's file server."""
        if media.url.startswith(STUB):
            media = await self._told(media)
        if not self._is_slacks(media.url):
            raise FileNotFetched(FileFailure.GONE)
        file = await self._files.get(media.url, self._headers, max_bytes)
        if file.content_type == "text/html" and media.content_type != "text/html":
            raise FileNotFetched(FileFailure.GONE)  # the sign-in page
        return SentFile(media.content_type or file.content_type, file.body, media.name)

    async def close(self) -> None:
        await self._files.close()
        await self._api.close()

    async def _told(self, media: Media) -> Media:
        """Return a file as files.info describes it. Raises `FileNotFetched` if Slack withholds it."""
        url = str(URL(self._info_url).with_query(file=media.url.removeprefix(STUB)))
        answer = await self._api.ask(url, self._headers, _MAX_INFO)
        try:
            told = read_json(answer.body)
            file = object_at(told, "file") if isinstance(told, dict) and told.get("ok") is True else {}
            found = Media(text_at(file, "url_private"), text_at(file, "mimetype"), text_at(file, "name"))
        except (RequestRefused, ValueError) as error:
            raise FileNotFetched(FileFailure.GONE) from error
        if not found.url:
            _log.info("file_kept_back", cause=told.get("error") if isinstance(told, dict) else "")
            raise FileNotFetched(FileFailure.GONE)
        return found

    def _is_slacks(self, url: str) -> bool:
        try:
            target = read_target(url)
        except (Barred, ToolFailed, ValueError):
            return False
        home = self._home
        return (target.scheme, target.host, target.port) == (home.scheme, home.host, home.port)
