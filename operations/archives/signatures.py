"""The origin of an archive: a signature over its manifest, by a key that only its installation has."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ArchiveKeys:
    """The keys that sign archives: the first signs, all verify, so that archives outlive a change of keys."""

    keys: Sequence[bytes] = field(repr=False)

    def sign(self, manifest: bytes) -> bytes:
        """Return the signature of a manifest, which names the hash of each entry."""
        return _signature(self.keys[0], manifest)

    def verify(self, manifest: bytes, signature: bytes) -> bool:
        """Return whether any of these keys made the signature."""
        return any(hmac.compare_digest(_signature(key, manifest), signature) for key in self.keys)


def _signature(key: bytes, manifest: bytes) -> bytes:
    return hmac.digest(key, manifest, "sha256").hex().encode()
