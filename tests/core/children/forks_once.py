"""Imported into a kept process, it lets that fork once: then there are too many processes."""

import errno
import os

_fork, _times = os.fork, iter([True])


def _forks() -> int:
    if next(_times, False):
        return _fork()
    raise BlockingIOError(errno.EAGAIN, "there are too many")


os.fork = _forks
