"""The providers' state, kept in a folder over restarts: their chats, ids and settings, as at a real provider."""

import asyncio
import hashlib
import os
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import structlog
from pydantic import PlainSerializer, PlainValidator, SerializationInfo, TypeAdapter, ValidationError, ValidationInfo

from workbench.simulator.journal import Journal

log = structlog.get_logger()
_PAUSE = 0.3
"""Seconds between two writes; a power failure loses the changes of the last of them."""


@dataclass(frozen=True, slots=True)
class Drawer:
    """The folder that holds people's files, each once, by its hash."""

    folder: Path

    def put(self, data: bytes) -> str:
        """Keep a file, unless it is there already, and return its name."""
        name = hashlib.sha256(data).hexdigest()
        path = self.folder / name
        if not path.exists():
            _write(path, data)
        return name

    def take(self, name: str) -> bytes:
        """Return a file. Raises `ValueError` if it is gone."""
        path = self.folder / name
        if len(name) != 64 or not path.is_file():
            raise ValueError(f"there is no file {name}")
        return path.read_bytes()


def _put(data: bytes, info: SerializationInfo[Drawer]) -> str:
    return info.context.put(data)


def _take(name: str | bytes, info: ValidationInfo[Drawer]) -> bytes:
    return name if isinstance(name, bytes) else info.context.take(name)


type Content = Annotated[bytes, PlainSerializer(_put), PlainValidator(_take)]
"""Bytes of a file, stored beside the record that names them."""


class Keepable(Protocol):
    """A provider with something to keep."""

    @property
    def name(self) -> str: ...

    def save(self, drawer: Drawer) -> bytes:
        """Return all that the provider knows."""
        ...

    def load(self, kept: bytes, drawer: Drawer) -> None:
        """Restore that state, before the first call. Raises `ValidationError` for a foreign state."""
        ...

    def resume(self) -> None:
        """Continue interrupted work, such as a delivery, once the gateway is up."""
        ...


class Form[T]:
    """The form of a provider's stored state: a dataclass as JSON."""

    def __init__(self, kind: type[T]) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(kind)

    def write(self, value: T, drawer: Drawer) -> bytes:
        context: Any = drawer
        return self._adapter.dump_json(value, context=context)

    def read(self, kept: bytes, drawer: Drawer) -> T:
        return self._adapter.validate_json(kept, context=drawer)


class Keeper:
    """Writes changes, a moment later, in a file for each provider."""

    def __init__(self, folder: Path, providers: Sequence[Keepable], journal: Journal) -> None:
        self._folder = folder
        self._providers = providers
        self._journal = journal
        self._drawer = Drawer(folder / "files")
        self._written: dict[str, bytes] = {}
        self._one_at_a_time = threading.Lock()

    def load(self) -> None:
        """Restore every provider's state; an unreadable file is set aside, and the provider begins empty."""
        self._drawer.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for provider in self._providers:
            path = self._path(provider)
            if not path.exists():
                continue
            try:
                provider.load(path.read_bytes(), self._drawer)
            except ValidationError as error:
                aside = path.with_suffix(".unreadable")
                path.replace(aside)
                log.warning("simulator_state_unreadable", provider=provider.name, kept_as=str(aside), cause=str(error))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write as things change, and once more at the end."""
        writing = asyncio.create_task(self._write_changes())
        try:
            yield
        finally:
            writing.cancel()
            await asyncio.wait([writing])
            await self.write()

    async def write(self) -> None:
        """Write the changes since the last write."""
        for provider in self._providers:
            kept = provider.save(self._drawer)
            if kept != self._written.get(provider.name):
                await asyncio.to_thread(self._store, self._path(provider), kept)
                self._written[provider.name] = kept

    async def _write_changes(self) -> None:
        async with self._journal.listen() as changes:
            while True:
                await changes.get()
                await asyncio.sleep(_PAUSE)
                try:
                    await self.write()
                except OSError as error:
                    log.warning("simulator_state_not_written", cause=str(error))

    def _store(self, path: Path, data: bytes) -> None:
        # An abandoned write goes on in its thread, and the final write begins beside it.
        with self._one_at_a_time:
            _write(path, data)

    def _path(self, provider: Keepable) -> Path:
        return self._folder / f"{provider.name}.json"


def _write(path: Path, data: bytes) -> None:
    beside = path.with_suffix(".new")
    with open(beside, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
    beside.replace(path)
