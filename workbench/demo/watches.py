"""The demo model's understanding of a watch over a page's price: "tell me when https://… is under 300"."""

import re

from core.json_types import JsonObject
from core.language.catalogue import gettext
from workbench.demo.intent import Found

_ADDRESS = r"https?://[^\s<>\"\u3000-\u9fff\uff00-\uffef]+"
_ASK = (
    r"(?:tell|let|notify|alert|warn|text|message) me"
    r"|(?:sag|gib|schreib)e? (?:mir )?(?:bitte )?bescheid|(?:sag|schreib)e? mir|benachrichtige? mich|melde? dich"
    r"|av[ií]same|dime|notif[ií]came"
    r"|(?:dis|préviens|prévenez|avertis|avertissez|alerte|informe|dites)[ -]moi"
    r"|avis[ae]-me|diga-me|diz-me|notifi(?:ca|que)-me|alert[ae]-me"
    r"|告诉我|通知我|提醒我"
)
_UNDER = (
    r"\b(?:under|below|less than|cheaper than|unter|weniger als|billiger als|günstiger als"
    r"|(?:por )?debajo de|menos de|baje de|moins de|en dessous de|sous|abaixo de|inferior a)\b|低于|少于|不到|跌破"
)
PRICE = (
    rf"(?=.*?(?P<url>{_ADDRESS}))(?=.*?(?:{_UNDER})\s*(?:[€$£¥]|eur|usd)?\s*(?P<limit>\d{{1,9}}(?:[.,]\d{{1,3}}){{0,3}}))"
    rf".{{0,40}}?(?:{_ASK}).{{0,400}}"
)
_DECIMALS = re.compile(r"[.,](\d{1,2})$")


def price(match: Found) -> JsonObject:
    """Return ScheduleTask's arguments for a price that a page shows."""
    url = match["url"].rstrip(".,;:!?)]}>\"'\u3002\uff0c")
    decimals = _DECIMALS.search(match["limit"])
    whole = re.sub(r"[.,]", "", match["limit"][: decimals.start()] if decimals else match["limit"])
    return {
        "what": gettext("The price is under {limit}: {url}", limit=match["limit"], url=url),
        "expression": f"value < {whole}{f'.{decimals[1]}' if decimals else ''}",
        "url": url,
        "path": "$.price",
        "remind_only": True,
    }
