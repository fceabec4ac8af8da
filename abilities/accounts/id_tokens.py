"""Who granted: the id token of an OpenID server, proven by `joserfc`."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import structlog

from abilities.accounts.oauth import OAuthRefused
from core.json_types import JsonObject, check_depth
from core.language.catalogue import gettext

_ALGORITHMS = ["RS256", "PS256", "ES256", "RS512", "ES384", "EdDSA"]
_LEEWAY = 120
"""Seconds by which a server's clock may differ from ours."""
_MOST_TOKEN, _MOST_TEXT, _MOST_KEYS = 16 * 1024, 320, 100
"""Characters of a token and of a claim (RFC 3696 gives an address no more), and keys of a server."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of an account at its issuer. `address`: the address that the person knows; empty if none is named."""

    subject: str
    address: str


def read_id_token(token: str, keys: JsonObject, *, issuer: str, client_id: str, nonce: str, now: float) -> Identity:
    """Return the person who granted. Raises `OAuthRefused` for a token that is forged, another's, or of another time.

    `issuer` may hold `{tid}`, as Microsoft's does for accounts of all directories.
    """
    from joserfc import jwt
    from joserfc.jwk import KeySet

    try:
        _check_text(token, _MOST_TOKEN)
        check_depth(keys)
        # `import_key_set` reads as many as it is given, and each is a computation.
        listed = keys["keys"]
        if not isinstance(listed, list) or len(listed) > _MOST_KEYS:
            raise ValueError("no list of keys")
        claims = jwt.decode(token, KeySet.import_key_set(keys), algorithms=_ALGORITHMS).claims  # type: ignore[arg-type]
        check_depth(claims)
        tid = claims.get("tid", "")
        expected = issuer.replace("{tid}", _check_text(tid, _MOST_TEXT) if tid else "")
        registry = jwt.JWTClaimsRegistry(
            now=int(now),
            leeway=_LEEWAY,
            iss={"essential": True, "value": expected},
            aud={"essential": True, "value": client_id},
            nonce={"essential": True, "value": nonce},
            sub={"essential": True},
            exp={"essential": True},
        )
        registry.validate(claims)
        if "azp" in claims and claims["azp"] != client_id:
            raise ValueError("it was made for another client")
        subject = _check_text(claims["sub"], _MOST_TEXT)
    except Exception as error:  # the library and its cryptography raise many errors for odd keys and claims
        _log.warning("id_token_refused", issuer=issuer, cause=type(error).__name__)
        raise OAuthRefused(gettext("The service's answer cannot be trusted: nothing was connected.")) from error
    return Identity(subject, address_in(claims))


def address_in(claims: Mapping[str, object]) -> str:
    """Return the address in the claims; empty if they name none, or something else."""
    for name in ("email", "preferred_username"):
        with suppress(ValueError):
            return _check_text(claims.get(name), _MOST_TEXT)
    return ""


def _check_text(value: object, most: int) -> str:
    """Return a text of a single printable line. Raises `ValueError` for anything else."""
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
        raise ValueError("no text of a claim")
    return value
