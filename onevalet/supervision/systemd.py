"""Tell systemd how a service is, by the datagrams of sd_notify(3); without systemd nothing is sent."""

import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Send a state, such as READY=1, to whoever started this process with NOTIFY_SOCKET set."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # A name that begins with @ is in the abstract namespace, which is written with a NUL.
    address = address.replace("@", "\0", 1) if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as telling:
        telling.setblocking(False)
        telling.sendto(state.encode(), address)
