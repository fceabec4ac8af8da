"""Who granted: the id token of an OpenID server, proven by `joserfc`."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from core.accounts.oauth import OAuthRefused
from core.json_types import JsonObject
from core.language.catalogue import gettext

_ALGORITHMS = ["RS256", "PS256", "ES256", "RS512", "ES384", "EdDSA"]
_LEEWAY = 120
"""Seconds by which a server's clock may differ from ours."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose account it is at its issuer. `address`: by which the person knows it; empty where the token names none."""

    subject: str
    address: str


def read_id_token(token: str, keys: JsonObject, *, issuer: str, client_id: str, nonce: str, now: float) -> Identity:
    """Return who granted. Raises `OAuthRefused` for a token that is forged, another's, or of another time.

    `issuer` may hold `{tid}`, as Microsoft's does for accounts of all directories.
    """
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    try:
        claims = jwt.decode(token, KeySet.import_key_set(keys), algorithms=_ALGORITHMS).claims  # type: ignore[arg-type]
        expected = issuer.replace("{tid}", str(claims.get("tid") or ""))
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
    except (JoseError, ValueError, TypeError, KeyError) as error:
        _log.warning("id_token_refused", issuer=issuer, cause=type(error).__name__)
        raise OAuthRefused(gettext("The service's answer cannot be trusted: nothing was connected.")) from error
    return Identity(str(claims["sub"]), address_in(claims))


def address_in(claims: Mapping[str, object]) -> str:
    """Return the address that claims name; empty where they name none."""
    return str(claims.get("email") or claims.get("preferred_username") or "")
