"""The result of a look at a condition: a tool's result, or the content of a web address."""

from typing import Protocol

from abilities.tasks.descriptions import value_in_words
from abilities.tasks.kinds.condition import ONE_OF_TWO, ConditionTrigger
from abilities.tasks.kinds.schedule import TriggerError
from core.errors import ToolError
from core.http.pages import Page
from core.http.types import HttpResponse
from core.json_types import JsonObject, canonical_json
from core.language.catalogue import gettext, listed
from core.tools.results import TextWithData

_PRICE = "$.price"
_MAX_PRICES = 6


class ReadTools(Protocol):
    """Tools that only read, called for a person outside any turn."""

    async def read(self, tenant_id: str, tool: str, arguments: JsonObject) -> str:
        """Return a tool's result. Raises `ToolError`, also for a tool that does more than read."""
        ...

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        """Return the content of a web address. Raises `ToolError`."""
        ...

    async def read_page(self, answer: HttpResponse) -> Page:
        """Return a page as text. Raises `ToolError`."""
        ...


async def look_at(tools: ReadTools, tenant_id: str, trigger: ConditionTrigger) -> str:
    """Return the present result, as JSON if a path looks into it. Raises `ToolError`."""
    if trigger.tool is not None:
        text = await tools.read(tenant_id, trigger.tool, trigger.arguments)
        # A path looks into the data beside the sentence; without a path the sentence itself is compared.
        return canonical_json(text.data) if trigger.path is not None and isinstance(text, TextWithData) else text
    if trigger.url is None:
        raise TriggerError(gettext(ONE_OF_TWO))
    answer = await tools.fetch(tenant_id, trigger.url)
    if answer.status >= 400:
        raise ToolError(gettext("The server answered {status}.", status=answer.status))
    if not _is_page(answer.content_type):
        return answer.body.decode(errors="replace")
    page = await tools.read_page(answer)
    if not page.text and page.price is None:
        raise ToolError(gettext("The page shows nothing without JavaScript or a login."))
    if trigger.path == _PRICE and page.price is None:
        raise _no_price(page)
    return page.text if trigger.path is None else canonical_json(page.to_json())


def _is_page(content_type: str) -> bool:
    """Return whether a media type is that of a web page, which is read as text."""
    return content_type in ("text/html", "application/xhtml+xml")


def _no_price(page: Page) -> ToolError:
    """Explain why no price on the page is usable, listing the prices found."""
    amounts = [f"{value_in_words(found['price'])} {found['currency']}".strip() for found in page.prices]
    if not amounts:
        return ToolError(gettext("The page names no price."))
    return ToolError(
        gettext("The page names several prices, and none as its own: {prices}.", prices=listed(amounts[:_MAX_PRICES])),
        note="$.prices[0].price is the first of them.",
    )
