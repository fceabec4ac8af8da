"""Report the state of a service to systemd by the datagrams of sd_notify(3); without systemd nothing is sent."""

import os
import socket
from contextlib import suppress


def notify(message: str) -> None:
    """Send a message, such as READY=1, to the address in NOTIFY_SOCKET, if it is set."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # A name that begins with @ is in the abstract namespace, which is written with a NUL.
    address = address.replace("@", "\0", 1) if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.setblocking(False)
        sender.sendto(message.encode(), address)
