"""PUBLIC_URL: the address by which providers reach this machine, called once from here."""

import asyncio
from urllib.parse import urlsplit

from onevalet.init.dialogue import Dialogue, Wrong
from onevalet.init.doorway import Doorway
from onevalet.init.draft import Draft
from operations.doctor.address import HEALTH, Astray, call, is_ours

NAME = "PUBLIC_URL"
_HOW = """\
  Providers reach OneValet by an https address that leads to {host}:{port} on this machine. It may be
    a name of yours behind a proxy with a certificate: nginx and Caddy are in docs/deploy.md,
    a tunnel: `cloudflared tunnel --url http://127.0.0.1:{port}` prints an address, `tailscale funnel {port}` too."""


def ask_address(talk: Dialogue, draft: Draft, doorway: Doorway, *, must_reach: bool) -> str:
    """Return the address, after a call to it has arrived here. `must_reach`: accept no other address."""
    settings = draft.settings({})
    known = draft.value(NAME)
    if not known:
        talk.say(_HOW.format(host=settings.host, port=settings.port))
    tried = set[str]()

    def prove(answer: str) -> str:
        url = draft.settings({NAME: answer}).public_url
        parts = urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise Wrong("Providers call https:// addresses only.")
        problem = asyncio.run(_call(url, doorway)) if must_reach else ""
        if problem and url not in tried:
            tried.add(url)
            raise Wrong(
                f"{problem} Correct it, or answer the same once more if only the outside can reach it."
                if talk.interactive
                else f"{problem} Correct it, or add --no-reach if only the outside can reach it."
            )
        talk.say("  Taken without proof." if problem else "  A call to it came out here.")
        return url

    return talk.ask_until(NAME, "Public address (such as https://valet.example.com)", prove, default=known)[1]


async def _call(url: str, doorway: Doorway) -> str:
    """Return the problem with an address; empty if it leads here."""
    try:
        if doorway.is_open:
            await call(url, doorway.mark_path, lambda _, text: text == doorway.mark)
        else:
            await call(url, HEALTH, is_ours)
    except Astray as error:
        return str(error)
    return ""
