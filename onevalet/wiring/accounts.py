"""People's accounts elsewhere: which services there are, and access to them."""

from core.accounts.accounts import Accounts
from core.accounts.services import Services
from core.credentials.store import CredentialStore
from onevalet.settings import Settings


def build_accounts(settings: Settings, credentials: CredentialStore) -> Accounts:
    """Create the access to all people's accounts."""
    return Accounts(credentials, build_services(settings))


def build_services(_: Settings) -> Services:
    """Return the services that people can connect here."""
    return Services.of()
