"""Tokens that prove by themselves that they were made with our key, so that guesses never reach the database.

The end of each is a check sum under ONEVALET_SECRET_KEYS. It grants nothing: a token's owner and validity are looked
up, but only for a token that we made.
"""

import base64
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.credentials.secret_keys import SecretKeys
from core.ids import for_person

SUM = 21
"""Letters of a check sum, each of 6 bits."""
HEX_SUM = 16
_MOST = 100


@dataclass(frozen=True, slots=True)
class OwnTokens:
    """Make and prove a kind of tokens. `keys`: the first makes, all prove, so that tokens outlive a change of keys.

    `plain`: of hexadecimal digits, for links in messages: programs that find links drop a mark at the end.
    """

    keys: Sequence[bytes] = field(repr=False)
    plain: bool = False

    @classmethod
    def of(cls, keys: SecretKeys, purpose: str, *, plain: bool = False) -> "OwnTokens":
        """Return the tokens of a purpose; a token of another purpose is not ours here."""
        return cls.under([key.value for key in keys.all], purpose, plain=plain)

    @classmethod
    def under(cls, keys: Sequence[bytes], purpose: str, *, plain: bool = False) -> "OwnTokens":
        """Return the tokens of a purpose under keys that are derived already."""
        return cls([hmac.digest(key, f"onevalet tokens: {purpose}".encode(), "sha256") for key in keys], plain)

    def make(self, tenant_id: str, prefix: str = "", *, of: str = "") -> str:
        """Return a new token of a person's, of 43 letters or 32 digits after the prefix; the same for the same `of`."""
        made = hmac.digest(self.keys[0], f"token of {of}".encode(), "sha256") if of else secrets.token_bytes(16)
        text = made[:8].hex() if self.plain else base64.urlsafe_b64encode(made[:16]).decode().rstrip("=")
        body = for_person(tenant_id, prefix + text)
        return body + self._sum(self.keys[0], body)

    def is_ours(self, token: str) -> bool:
        """Return whether a token was made by us for this purpose, even if it no longer holds."""
        if len(token) > _MOST or not token.isascii():
            return False
        cut = len(token) - (HEX_SUM if self.plain else SUM)
        if cut <= 0:
            return False
        body, given = token[:cut], token[cut:]
        # Each is compared, and each in constant time.
        proven = [hmac.compare_digest(self._sum(key, body), given) for key in self.keys]
        return any(proven)

    def _sum(self, key: bytes, body: str) -> str:
        digest = hmac.digest(key, body.encode(), "sha256")
        return digest.hex()[:HEX_SUM] if self.plain else base64.urlsafe_b64encode(digest).decode()[:SUM]
