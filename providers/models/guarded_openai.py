"""A client of servers of OpenAI's shape for litellm's own calls: it follows no redirect and reads no endless answer."""

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

from providers.models import litellm_library
from providers.provider_httpx import client_options


def guarded_client(model: str, key: str, url: str, most: int) -> Any:
    """Return a client for a model's provider, or for the server at `url`; None if litellm has no such client.

    `most`: bytes of an answer as unpacked. Raises openai's own error if the provider needs a key and there is none.
    """
    found = litellm_library.openai_server(model, key, url)
    if found is None:
        return None
    import httpx
    import openai

    http = httpx.AsyncClient(
        **client_options(most, litellm_library.tls_context()),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )
    server, told_key = found
    return openai.AsyncOpenAI(api_key=told_key, base_url=server, http_client=http, max_retries=0)
