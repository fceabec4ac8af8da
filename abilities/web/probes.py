"""The check that the web can be searched: a query to the service of the settings."""

from collections.abc import Sequence
from urllib.parse import urlencode

from abilities.web.settings import WebSettings
from core.errors import ConfigError, ToolFailed
from core.http.guarded_client import GuardedClient
from core.http.types import HttpResponse
from core.json_types import read_json
from core.messaging.channels import Check
from operations.doctor.types import Area, Installation, Probe

_WHAT = "web search"
_WORD = "weather"
_REFUSALS = (401, 402, 403, 432, 433)
"""Of a key, or of an account that is used up."""


async def check_search(installation: Installation) -> Sequence[Check]:
    """Search once; an incomplete setting was refused before."""
    settings = installation.settings.of(WebSettings)
    service = settings.onevalet_search
    if not service:
        how = "set ONEVALET_SEARCH to searxng, brave or tavily (docs/web.md)"
        return [Check(_WHAT, True, "off: pages are read, nothing is searched", how)]
    try:
        http = installation.http()
    except ConfigError as error:
        return [Check(_WHAT, False, f"{service} cannot be asked", str(error))]
    try:
        answer = await _ask(settings, http)
    except ToolFailed as error:
        fix = "see whether it is away, or correct ONEVALET_SEARCH_URL"
        return [Check.failed(_WHAT, error, f"{service} does not answer: {error}", fix)]
    finally:
        await http.close()
    if answer.status in _REFUSALS:
        fix = "correct ONEVALET_SEARCH_KEY, or see whether the account there is used up"
        if service == "searxng":
            fix = "let SearXNG answer in JSON: json among search.formats in its settings.yml"
        return [Check(_WHAT, False, f"{service} refuses us (HTTP {answer.status})", fix)]
    if answer.status != 200 or not _is_json(answer):
        fix = "see whether it is away, or ONEVALET_SEARCH_URL leads elsewhere"
        return [Check(_WHAT, False, f"{service} gives no results (HTTP {answer.status})", fix)]
    return [Check(_WHAT, True, f"{service} answers")]


async def _ask(settings: WebSettings, http: GuardedClient) -> HttpResponse:
    """Send a query like the tool's (abilities/web/searching.py), for a single result if the service can limit it."""
    secret, url = settings.onevalet_search_key, settings.onevalet_search_url
    key = secret.get_secret_value() if secret else ""
    match settings.onevalet_search:
        case "brave":
            asked = urlencode({"q": _WORD, "count": 1})
            url = f"{url or 'https://api.search.brave.com'}/res/v1/web/search?{asked}"
            return await http.request("GET", url, headers={"X-Subscription-Token": key})
        case "tavily":
            url = f"{url or 'https://api.tavily.com'}/search"
            headers = {"Authorization": f"Bearer {key}"}
            return await http.request("POST", url, headers=headers, json={"query": _WORD, "max_results": 1})
    return await http.request("GET", f"{url}/search?{urlencode({'q': _WORD, 'format': 'json'})}")


def _is_json(answer: HttpResponse) -> bool:
    """Return whether the answer is a JSON object, or the beginning of such an object."""
    try:
        return isinstance(read_json(answer.body), dict)
    except ValueError:
        return answer.cut and answer.body.lstrip().startswith(b"{")


PROBES = (Probe(Area.SEARCH, _WHAT, check_search, seconds=30.0),)
