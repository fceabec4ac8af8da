"""Files of Telegram messages: getFile names a path, and the path is downloaded within the hour.

Source: core.telegram.org/bots/api#getfile. Bots get files of up to 20 MB. Both addresses hold the bot's token, so that
neither is ever logged or stored.
"""

import re
from urllib.parse import quote, urlsplit

from channels.provider_files import ProviderFiles
from core.files.kinds import FileFailure
from core.files.types import FileNotFetched, SentFile
from core.json_types import read_json
from core.messaging.messages import Media
from providers.telegram.wire import CARD_SCHEME, FILE_SCHEME, REAL_API_URL

_FILE_ID = re.compile(r"[A-Za-z0-9_-]{1,300}")
_PATH = re.compile(r"(?!.*\.\.)[A-Za-z0-9_./-]{1,300}")


class TelegramDownloads:
    """Fetch the files of inbound messages. `api_url` as in `TelegramApi`."""

    def __init__(self, *, bot_token: str, api_url: str = REAL_API_URL) -> None:
        self._url = api_url.rstrip("/")
        self._token = bot_token
        private = [] if self._url == REAL_API_URL else [urlsplit(self._url).netloc]
        self._files = ProviderFiles(self._url, private)

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Fetch a file. Raises `FileNotFetched`."""
        if media.url.startswith(CARD_SCHEME):
            card = media.url.removeprefix(CARD_SCHEME).encode()
            if len(card) > max_bytes:
                raise FileNotFetched(FileFailure.TOO_LARGE)
            return SentFile(media.content_type, card)
        file_id = media.url.removeprefix(FILE_SCHEME)
        if not media.url.startswith(FILE_SCHEME) or not _FILE_ID.fullmatch(file_id):
            raise FileNotFetched(FileFailure.GONE)
        path = await self._path(file_id, max_bytes)
        file = await self._files.get(f"{self._url}/file/bot{self._token}/{quote(path)}", {}, max_bytes)
        return SentFile(media.content_type or file.content_type, file.body)

    async def close(self) -> None:
        await self._files.close()

    async def _path(self, file_id: str, max_bytes: int) -> str:
        answer = await self._files.ask(f"{self._url}/bot{self._token}/getFile?file_id={file_id}", {}, good=(200, 400))
        try:
            told = read_json(answer.body.decode())
        except ValueError as error:
            raise FileNotFetched(FileFailure.UNREACHABLE) from error
        if not isinstance(told, dict):
            raise FileNotFetched(FileFailure.UNREACHABLE)
        if answer.status == 400:
            too_big = "too big" in str(told.get("description", ""))
            raise FileNotFetched(FileFailure.TOO_LARGE if too_big else FileFailure.GONE)
        file = told.get("result")
        size, path = (file.get("file_size"), file.get("file_path")) if isinstance(file, dict) else (None, None)
        if not isinstance(path, str) or not _PATH.fullmatch(path):
            raise FileNotFetched(FileFailure.GONE)
        if isinstance(size, int) and size > max_bytes:
            raise FileNotFetched(FileFailure.TOO_LARGE)
        return path
