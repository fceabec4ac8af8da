"""The services that people connect, and the access of an account."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.credentials.types import Ability

NOTHING: frozenset[Ability] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """An OAuth scope as it is requested, with the abilities that it allows."""

    name: str
    allows: frozenset[Ability]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The addresses of an OAuth server. `revocation` and `userinfo` are empty if it has none.

    `issuer` may hold `{tid}`, a placeholder for the id token's own claim. `names_issuer`: each of its answers to a
    browser names it by `iss` (RFC 9207).
    """

    issuer: str
    authorization: str
    token: str
    jwks: str
    revocation: str = ""
    userinfo: str = ""
    names_issuer: bool = False


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """Ourselves at an OAuth server, as the operator registered us. `secret`: empty for a public client.

    Without `endpoints` the server describes them itself at its `issuer`. `always` are the scopes that are requested
    for any ability; `extra` are further parameters of the page to which people are led.
    """

    client_id: str
    secret: str = field(repr=False)
    issuer: str
    endpoints: Endpoints | None = None
    always: Sequence[str] = ("openid", "email")
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Service:
    """A service that people may connect. Without `client` they give a password on our page.

    `scopes` stand from the narrow to the wide; `servers` are as in `OpenAccount`, with `{address}` where the account's
    own belongs. `manage_url` is the page on which people see and end their grants, if we cannot end them ourselves.
    """

    name: str
    label: str
    offers: frozenset[Ability]
    client: OAuthClient | None = None
    scopes: Sequence[Scope] = ()
    servers: Mapping[str, str] = field(default_factory=dict)
    manage_url: str = ""

    def only(self, abilities: frozenset[Ability]) -> "Service":
        """Return the service for these abilities alone: it offers no other, and no scope is requested for another."""
        narrowed = (Scope(scope.name, scope.allows & abilities) for scope in self.scopes)
        return replace(self, offers=self.offers & abilities, scopes=tuple(one for one in narrowed if one.allows))

    def scopes_for(self, abilities: frozenset[Ability]) -> tuple[str, ...]:
        """Return the scopes to ask for: the narrowest that allows each ability, without those that another contains."""
        chosen: list[Scope] = []
        for ability in sorted(abilities):
            scope = next((scope for scope in self.scopes if ability in scope.allows), None)
            if scope is not None and scope not in chosen:
                chosen.append(scope)
        return tuple(
            scope.name for scope in chosen if not any(scope.allows < other.allows for other in chosen if other != scope)
        )

    def granted_for(self, abilities: frozenset[Ability]) -> frozenset[Ability]:
        """Return the abilities of a grant for these abilities: a scope may allow more than the requested abilities."""
        return self.allowed_by(self.scopes_for(abilities))

    def allowed_by(self, granted: Sequence[str]) -> frozenset[Ability]:
        """Return the abilities of granted scopes; all offered abilities if no scope narrows them."""
        if not self.scopes:
            return self.offers
        names = {name.casefold() for name in granted}  # servers may answer in letters of their own
        return NOTHING.union(*(scope.allows for scope in self.scopes if scope.name.casefold() in names))


@dataclass(frozen=True, slots=True)
class Opened:
    """The access of stored credentials: the part of an `OpenAccount` that they hold."""

    address: str
    login: str
    secret: str = field(repr=False)
    servers: Mapping[str, str]
    abilities: frozenset[Ability]
    bearer: bool = False
    sender: str | None = None
