"""Run a program confined as a unit of deploy/systemd says, without systemd as its parent.

`python -m tests.shipping.sandbox UNIT COMMAND…`. Of what the unit says, these hold: NoNewPrivileges, LimitCORE,
MemoryDenyWriteExecute, RestrictAddressFamilies, RestrictNamespaces and SystemCallFilter. They are what a program trips
over by what it calls; the rest is about files and users.
"""

import ctypes
import errno
import os
import resource
import socket
import subprocess
import sys

from tests.shipping.units import DROP_IN, read_unit

_PR_SET_NO_NEW_PRIVS, _PR_SET_MDWE, _PR_MDWE_REFUSE_EXEC_GAIN = 38, 65, 1  # <linux/prctl.h>
_ALLOW = 0x7FFF0000  # <seccomp.h>
_ERRNO = 0x00050000
_UNKNOWN = -1
_EQUAL, _MASKED_EQUAL = 4, 7
_NEW_NAMESPACES = 0x7E020000
"""The flags CLONE_NEW… of <linux/sched.h>, without CLONE_NEWTIME, which only clone3 takes."""


class _Comparison(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def allowed_calls(words: list[str]) -> set[str]:
    """Return the system calls that the lines of SystemCallFilter leave, in their order."""
    allowed: set[str] = set()
    for line in words:
        named: set[str] = set()
        for word in line.removeprefix("~").split():
            named |= _members(word) if word.startswith("@") else {word}
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed | _members("@default")


def _members(group: str) -> set[str]:
    """Expand a group, such as @system-service, as the systemd of this machine does."""
    printed = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", group], capture_output=True, text=True, check=True
    ).stdout
    listed = [line.strip() for line in printed.splitlines()[1:]]
    names = {line for line in listed if line and not line.startswith("#")}
    return {name for name in names if not name.startswith("@")}.union(
        *(_members(name) for name in names if name.startswith("@"))
    )


def confine(unit: str) -> None:
    """Confine this process, and all that it starts, as the unit says."""
    said = read_unit(DROP_IN) | read_unit(unit)
    calls = allowed_calls(said["SystemCallFilter"])
    families = {int(getattr(socket, name)) for name in said["RestrictAddressFamilies"][-1].split()}
    resource.setrlimit(resource.RLIMIT_CORE, (int(said["LimitCORE"][-1]),) * 2)
    libc = ctypes.CDLL(None, use_errno=True)
    if said["MemoryDenyWriteExecute"] == ["yes"]:
        _must(libc.prctl(_PR_SET_MDWE, _PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
    _must(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _filter(calls, families)


def _filter(calls: set[str], families: set[int]) -> None:
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ERRNO | errno.EPERM)))

    def rule(action: int, name: str, *comparisons: _Comparison) -> None:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number != _UNKNOWN:
            packed = (_Comparison * len(comparisons))(*comparisons)
            count = len(comparisons)
            _must(library.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, count, packed))

    for name in calls - {"socket", "clone", "clone3", "unshare", "setns"}:
        rule(_ALLOW, name)
    for family in families:
        rule(_ALLOW, "socket", _Comparison(0, _EQUAL, family, 0))
    rule(_ALLOW, "clone", _Comparison(0, _MASKED_EQUAL, _NEW_NAMESPACES, 0))
    # clone3 has its flags in memory, where no filter sees them: systemd says that it is not there, and libc falls back.
    rule(_ERRNO | errno.ENOSYS, "clone3")
    _must(library.seccomp_load(context))


def _must(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno() or -result, "the sandbox cannot be made here")


if __name__ == "__main__":
    confine(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - there is no shell to want
