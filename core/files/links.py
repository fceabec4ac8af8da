"""Links to people's files: signed, and valid for some days while the file exists."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.credentials.secret_keys import SecretKeys
from core.ids import PARTITION

PATH = "/files/"
MAX_TOKEN = 300
_TOKEN = re.compile(
    rf"({PARTITION}[a-zA-Z0-9-]{{1,80}})\.(f[0-9a-f]{{10}})\.([1-9a-f][0-9a-f]{{5,9}})\.([0-9a-f]{{32}})"
)
"""Each link has a single spelling, so that limits and lists may know it by its text."""
_PURPOSE = b"onevalet file links"


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """The file that a link leads to."""

    tenant_id: str
    file_id: str


@dataclass(frozen=True, slots=True)
class FileLinks:
    """Make and check links. `keys`: the first signs, all prove, so that links outlive a change of keys.

    A link has neither _ nor *, which mark emphasis in formatted messages.
    """

    keys: Sequence[bytes] = field(repr=False)
    public_url: str
    good_for: timedelta = timedelta(days=7)

    @classmethod
    def of(cls, keys: SecretKeys, public_url: str) -> "FileLinks":
        """Return the links that ONEVALET_SECRET_KEYS sign, with a key of their own."""
        own = [hmac.digest(key.value, _PURPOSE, "sha256") for key in keys.all]
        return cls(own, public_url.rstrip("/"))

    def make(self, tenant_id: str, file_id: str, now: datetime) -> str:
        """Return a link to a file of this person's."""
        until = int((now + self.good_for).timestamp())
        proof = _proof(self.keys[0], tenant_id, file_id, until)
        return f"{self.public_url}{PATH}{tenant_id.replace('_', '-')}.{file_id}.{until:x}.{proof}"

    def read(self, token: str, now: datetime) -> LinkedFile | None:
        """Return the file that the end of a link leads to; None if the link is not ours, or too old."""
        found = _TOKEN.fullmatch(token) if len(token) <= MAX_TOKEN else None
        if found is None:
            return None
        tenant_id, file_id, until = found[1].replace("-", "_"), found[2], int(found[3], 16)
        proofs = [_proof(key, tenant_id, file_id, until) for key in self.keys]
        # Each is compared, and each in constant time.
        proven = [hmac.compare_digest(proof, found[4]) for proof in proofs]
        if not any(proven) or datetime.fromtimestamp(until, UTC) <= now:
            return None
        return LinkedFile(tenant_id, file_id)


def _proof(key: bytes, tenant_id: str, file_id: str, until: int) -> str:
    said = "\0".join((tenant_id, file_id, f"{until:x}")).encode()
    return hmac.new(key, said, hashlib.sha256).hexdigest()[:32]
