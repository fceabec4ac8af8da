"""Fetching a provider's files over the guarded client: from its own hosts only, and never more than a file may have."""

from collections.abc import Callable, Mapping, Sequence

import structlog

from core.errors import ToolFailed
from core.files.kinds import FileFailure
from core.files.types import FileNotFetched, SentFile
from core.http.address_guard import Target, read_target
from core.http.guarded_client import GuardedClient, Limits
from core.http.types import HttpResponse

_LIMITS = Limits(connect=5.0, silence=15.0, total=90.0, redirects=3)
_MAX_JSON = 64 * 1024
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers after which the same request may succeed."""

_log = structlog.get_logger()


class ProviderFiles:
    """Fetch files from a provider. `private`: its hosts if it is emulated; `others`: its further hosts."""

    def __init__(
        self, api_url: str, private: Sequence[str], others: Callable[[Target], bool] = lambda _: False
    ) -> None:
        self._api = read_target(api_url)
        self._others = others
        self._client = GuardedClient(allowed_hosts=private, limits=_LIMITS)

    async def get(self, url: str, headers: Mapping[str, str], max_bytes: int) -> SentFile:
        """Fetch a file whole. Raises `FileNotFetched`."""
        answer = await self.ask(url, headers, max_bytes)
        if answer.cut:
            raise FileNotFetched(FileFailure.TOO_LARGE)
        return SentFile(answer.content_type, answer.body)

    async def ask(
        self, url: str, headers: Mapping[str, str], max_bytes: int = _MAX_JSON, good: Sequence[int] = (200,)
    ) -> HttpResponse:
        """Make a request to the provider. Raises `FileNotFetched` if the answer is not usable."""
        try:
            answer = await self._client.request(
                "GET", url, headers=headers, max_bytes=max_bytes, whole=True, may_go=self.may_go
            )
        except ToolFailed as error:
            raise FileNotFetched(FileFailure.UNREACHABLE) from error
        if answer.status in good:
            return answer
        _log.info("file_not_handed_out", status=answer.status)
        raise FileNotFetched(FileFailure.UNREACHABLE if answer.status in _AGAIN else FileFailure.GONE)

    async def close(self) -> None:
        await self._client.close()

    def may_go(self, target: Target) -> bool:
        """Return whether a host is the provider's."""
        api = self._api
        return (target.scheme, target.host, target.port) == (api.scheme, api.host, api.port) or self._others(target)
