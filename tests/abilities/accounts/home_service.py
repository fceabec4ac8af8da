"""A service that an OpenID server of the test run signs people in to."""

from abilities.accounts.services import openid
from abilities.accounts.types import OAuthClient, Service
from tests.servers.nanoidp import CLIENT, SECRET, Nanoidp


def home_of(server: Nanoidp) -> Service:
    """Return a service of accounts that this server signs people in to, named by an operator and none of ours."""
    client = OAuthClient(CLIENT, SECRET, server.url, always=("openid", "email", "offline_access"))
    return openid("home", "Home", client, {})
