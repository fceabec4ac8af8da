"""What a client starts instead of `mcp_script`: it hands its pipes to `mcp_forks` and ends as the server there does.

It loads nothing but what every Python has loaded, and no site-packages.
"""

import json
import os
import socket
import sys


def main() -> None:
    """Ask for a server on these pipes, and wait until it ends."""
    asked = {"words": sys.argv[2:], "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as forks:
        forks.connect(sys.argv[1])
        socket.send_fds(forks, [json.dumps(asked).encode()], [0, 1, 2])
        for number in (0, 1):
            os.close(number)  # the server has them now, and alone ends them
        told = forks.recv(1)
    os._exit(told[0] if told else 1)


main()
