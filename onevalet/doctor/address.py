"""PUBLIC_URL: whether a call to it comes out at a `web` of ours."""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import aiohttp

from core.messaging.channels import Check
from onevalet.settings import Settings

_LIMITS = aiohttp.ClientTimeout(total=12, connect=6)
_MOST = 2_000
HEALTH = "/healthz"
_WHAT = "public address"


async def check_address(settings: Settings) -> Sequence[Check]:
    """Call PUBLIC_URL as providers do, though from here: what only the outside can reach is told by the providers."""
    url = settings.public_url.rstrip("/")
    if not url:
        return []
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        fix = "set PUBLIC_URL to an address with https://: providers call no other"
        return [Check(_WHAT, False, f"{url} is not https", fix)]
    problem = await call(url, HEALTH, is_ours)
    if not problem:
        return [Check(_WHAT, True, f"{url} leads to `web`")]
    fix = "start `web`, or let the proxy or tunnel of PUBLIC_URL lead to it (docs/first-hour.md)"
    return [Check(_WHAT, False, f"called from here: {problem}", fix)]


def is_ours(status: int, text: str) -> bool:
    """Return whether this is `web` saying that it is alive."""
    return status == 200 and '"alive"' in text


async def call(url: str, path: str, is_good: Callable[[int, str], bool]) -> str:
    """Return in a sentence why a call to an address does not come out where it should, empty where it does."""
    host = urlsplit(url).hostname
    try:
        async with (
            aiohttp.ClientSession(timeout=_LIMITS) as session,
            session.get(url + path, allow_redirects=False) as answer,
        ):
            told, status = (await answer.content.read(_MOST)).decode(errors="replace"), answer.status
    except aiohttp.ClientConnectorDNSError:
        return f"The name {host} leads nowhere: is its DNS entry set?"
    except aiohttp.ClientSSLError:
        return f"The certificate of {host} is not valid."
    except (aiohttp.ClientConnectorError, OSError) as error:
        return f"Nothing listens at {host} ({type(error).__name__}): does the proxy or the tunnel run?"
    except (aiohttp.ClientError, TimeoutError) as error:
        return f"No answer comes from {host} ({type(error).__name__})."
    if is_good(status, told):
        return ""
    if status in (502, 503, 504):
        return f"A proxy answers at {host} (HTTP {status}), but does not reach this machine: where does it lead?"
    return f"Something else answers at {host} (HTTP {status}): where does it lead?"
