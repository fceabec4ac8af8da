"""Sockets to servers that people name: connected to the very address that passed the guard."""

import asyncio
import socket

from aiohttp.abc import AbstractResolver

from core.http.address_guard import Barred, is_public
from core.http.resolving import peer_resolver
from core.language.catalogue import gettext_noop

NOT_PUBLIC = gettext_noop("That address is not on the public internet.")


async def open_socket(host: str, port: int, *, anywhere: bool, resolver: AbstractResolver | None) -> socket.socket:
    """Return a socket connected to a host, without `anywhere` at a public address only.

    Raises `Barred` if its addresses are all private, and `OSError`.
    """
    loop = asyncio.get_running_loop()
    resolved = await (resolver or peer_resolver()).resolve(host, port, socket.AF_UNSPEC)
    allowed = [found for found in resolved if anywhere or is_public(found["host"])]
    if resolved and not allowed:
        raise Barred(NOT_PUBLIC)
    failure: OSError = OSError("the name resolves to no address")
    for found in allowed:
        opened = socket.socket(found["family"], socket.SOCK_STREAM)
        opened.setblocking(False)
        try:
            await loop.sock_connect(opened, (found["host"], port))
        except OSError as error:
            opened.close()
            failure = error
        except BaseException:
            opened.close()
            raise
        else:
            return opened
    raise failure
