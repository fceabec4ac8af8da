"""Become a server: `child_process.py` runs this script in a new process, which the server then replaces.

A script rather than a `preexec_fn`: code run between fork and exec in a process that has threads can hang.
Arguments: the parent's pid, the signal to get when it dies, uid and gid (or `-` and `-`), the command.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main(arguments: list[str]) -> None:
    """Drop to the server's user, arrange to end with the parent, and replace this process by the command."""
    parent, death_signal, uid, gid, *command = arguments
    os.umask(0o077)
    if uid != "-":
        os.setgroups([])
        os.setgid(int(gid))
        os.setuid(int(uid))
    if sys.platform == "linux":
        # After the change of user, which clears this setting: prctl(2).
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit("the parent ended before the server began")
    os.execv(command[0], command)  # noqa: S606 - the command is ours, and no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
