"""Hosts of their own on this machine: network namespaces on a bridge, which only root may make.

A host's link can be cut, as by a pulled cable: packets vanish, and nobody is told. Everything in a namespace is killed
when its block is left; what a killed run left behind is swept by the next.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from core.errors import ConfigError
from onevalet.servers.child_process import ServerUser, server_environment

_PREFIX = "ovtest"
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Host:
    """One namespace with its address; `link` is its end on the bridge."""

    name: str
    address: str
    link: str

    def start(self, command: Sequence[str | Path], log: Path, user: ServerUser | None) -> subprocess.Popen[bytes]:
        """Start a program on it that ends with this process."""
        libc = ctypes.CDLL(None, use_errno=True)
        with log.open("ab") as out:
            return subprocess.Popen(
                self.command(command, user),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd="/",
                env=server_environment() | {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
                preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),
            )

    def command(self, words: Sequence[str | Path], user: ServerUser | None, death: str = "KILL") -> list[str]:
        """Return the command that becomes this one there, as the user; `death`: its signal when its parent ends."""
        as_user = ["setpriv", f"--reuid={user.uid}", f"--regid={user.gid}", "--clear-groups"] if user else []
        # setpriv clears the signal of death when it changes the user, so it sets its own.
        as_user += ["--pdeathsig", death, "--"] if user else []
        return [shutil.which("ip") or "ip", "netns", "exec", self.name, *as_user, *(str(word) for word in words)]

    def listen(self, port: int) -> socket.socket:
        """Return a socket of this process that listens on the host's own 127.0.0.1."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            enter(self.name)
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(1000)
            return listener
        finally:
            os.setns(own, os.CLONE_NEWNET)
            os.close(own)

    def delay(self, milliseconds: float) -> bool:
        """Hold back what it sends, as a network would; return whether this machine's kernel can (`sch_netem`)."""
        with suppress(subprocess.CalledProcessError, FileNotFoundError):
            words = [
                "tc",
                "-n",
                self.name,
                "qdisc",
                "add",
                "dev",
                "eth0",
                "root",
                "netem",
                "delay",
                f"{milliseconds}ms",
            ]
            subprocess.run(words, check=True, capture_output=True)
            return True
        return False

    def cut(self) -> None:
        """Cut its link."""
        _ip("link", "set", self.link, "down")

    def mend(self) -> None:
        """Mend its link."""
        _ip("link", "set", self.link, "up")

    def part_from(self, others: Sequence["Host"]) -> None:
        """Let nothing that it sends reach these hosts."""
        for other in others:
            _ip("-n", self.name, "route", "add", "blackhole", f"{other.address}/32")

    def meet(self, others: Sequence["Host"]) -> None:
        """End `part_from`."""
        for other in others:
            _ip("-n", self.name, "route", "del", "blackhole", f"{other.address}/32")

    def processes(self) -> list[int]:
        """Return all that runs on it."""
        return _pids(self.name)


def enter(name: str) -> None:
    """Move the calling thread to a host by its name: what it opens or starts from now on is there."""
    namespace = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        os.setns(namespace, os.CLONE_NEWNET)
    finally:
        os.close(namespace)


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """Make hosts that reach each other and this machine; raise `ConfigError` without the rights."""
    if os.geteuid() != 0:
        raise ConfigError("Network namespaces need root: run this as root, in a container with CAP_NET_ADMIN at least.")
    _sweep()
    run = f"{_PREFIX}{os.getpid()}"
    # 198.18.0.0/15 is set apart for measurements (RFC 2544), so nothing else is reached by it.
    net = f"198.18.{os.getpid() % 256}"
    bridge = f"ovb{os.getpid()}"
    made = [Host(f"{run}n{n}", f"{net}.{10 + n}", f"ovh{os.getpid()}n{n}") for n in range(1, count + 1)]
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("address", "add", f"{net}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for host in made:
            _ip("netns", "add", host.name)
            _ip("link", "add", host.link, "type", "veth", "peer", "name", "eth0", "netns", host.name)
            _ip("link", "set", host.link, "master", bridge, "up")
            _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
            _ip("-n", host.name, "link", "set", "eth0", "up")
            _ip("-n", host.name, "link", "set", "lo", "up")
        yield made
    finally:
        for host in made:
            _remove(host.name)
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", bridge)


def _sweep() -> None:
    for line in _ip("netns", "list").splitlines():
        name = line.split()[0]
        owner = name.removeprefix(_PREFIX).partition("n")[0]
        if name.startswith(_PREFIX) and owner.isdigit() and not psutil.pid_exists(int(owner)):
            _remove(name)
            with suppress(subprocess.CalledProcessError):
                _ip("link", "del", f"ovb{owner}")


def _remove(name: str) -> None:
    with suppress(subprocess.CalledProcessError):
        for _ in range(5):  # what was killed may have begun another
            for pid in (alive := _pids(name)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not alive:
                break
        _ip("netns", "del", name)


def _pids(name: str) -> list[int]:
    return [int(pid) for pid in _ip("netns", "pids", name).split()]


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, ["ip", *words], done.stdout, done.stderr)
    return done.stdout
