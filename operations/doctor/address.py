"""PUBLIC_URL: whether a call to it reaches our `web`."""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import aiohttp

from core.errors import OneValetError
from core.messaging.channels import Check
from onevalet.settings import Settings

_LIMITS = aiohttp.ClientTimeout(total=12, connect=6)
_MOST = 2_000
HEALTH = "/healthz"
_WHAT = "public address"


class Astray(OneValetError):
    """A call to an address that does not arrive at its target; the text explains why, in a sentence."""


async def check_address(settings: Settings) -> Sequence[Check]:
    """Call PUBLIC_URL as providers do, though from here; failures outside are reported by the providers."""
    url = settings.public_url.rstrip("/")
    if not url:
        return []
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        fix = "set PUBLIC_URL to an address with https://: providers call no other"
        return [Check(_WHAT, False, f"{url} is not https", fix)]
    try:
        await call(url, HEALTH, is_ours)
    except Astray as error:
        fix = "start `web`, or let the proxy or tunnel of PUBLIC_URL lead to it (docs/first-hour.md)"
        return [Check.failed(_WHAT, error, f"called from here: {error}", fix)]
    return [Check(_WHAT, True, f"{url} leads to `web`")]


def is_ours(status: int, text: str) -> bool:
    """Return whether this is `web` saying that it is alive."""
    return status == 200 and '"alive"' in text


async def call(url: str, path: str, is_good: Callable[[int, str], bool]) -> None:
    """Call an address once; raises `Astray` unless the call arrives at its target."""
    host = urlsplit(url).hostname
    try:
        async with (
            aiohttp.ClientSession(timeout=_LIMITS) as session,
            session.get(url + path, allow_redirects=False) as answer,
        ):
            told, status = (await answer.content.read(_MOST)).decode(errors="replace"), answer.status
    except aiohttp.ClientConnectorDNSError as error:
        raise Astray(f"The name {host} leads nowhere: is its DNS entry set?") from error
    except aiohttp.ClientSSLError as error:
        raise Astray(f"The certificate of {host} is not valid.") from error
    except TimeoutError as error:  # itself an OSError
        raise Astray(f"No answer comes from {host} in time.") from error
    except (aiohttp.ClientConnectorError, OSError) as error:
        what = f"Nothing listens at {host} ({type(error).__name__}): does the proxy or the tunnel run?"
        raise Astray(what) from error
    except aiohttp.ClientError as error:
        raise Astray(f"No answer comes from {host} ({type(error).__name__}).") from error
    if is_good(status, told):
        return
    if status in (502, 503, 504):
        what = f"A proxy answers at {host} (HTTP {status}), but does not reach this machine: where does it lead?"
        raise Astray(what)
    raise Astray(f"Something else answers at {host} (HTTP {status}): where does it lead?")
