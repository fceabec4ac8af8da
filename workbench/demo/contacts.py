"""The demo model's understanding of contacts, in English: patterns, and the arguments from a match."""

from core.json_types import JsonObject
from workbench.demo.intent import Found, Intent

_ADDRESS = r"[^\s,;:<>()@]+@[^\s,;:<>()@]+\.[a-z]{2,}"
_NAME = r"(?!my\b|your\b|the\b|me\b)[^\W\d_][\w' -]{0,40}?"
HAS = (
    rf"(?P<name>{_NAME})'s (?:phone |mobile |cell )?(?:number|e-?mail(?: address)?|address) is"
    rf" (?P<address>\+?\d[\d ()/-]{{5,20}}|{_ADDRESS})"
)
ASK = (
    rf"(?:what is|what's|tell me|find|look up) (?P<name>{_NAME})'s"
    r" (?:phone |mobile )?(?:number|e-?mail(?: address)?|address)"
)
FIND = rf"(?:find|look up|search for) (?P<name>{_NAME}) in (?:my )?contacts"
ALL = r"(?:who(?: is|'s) in |(?:show|list)(?: me)? )?my contacts"
TEXT = rf"(?:text|message|write(?: to)?) (?P<to>{_NAME})(?: that|:| saying) (?P<text>.+)"


def added(match: Found) -> JsonObject:
    """Return add_contact's arguments."""
    return {"name": match["name"].strip(), "addresses": [match["address"].strip()]}


def written(match: Found) -> JsonObject:
    """Return MessageSomeoneAgent's arguments."""
    text = match["text"].strip()
    return {"to": match["to"].strip(), "text": text[:1].upper() + text[1:]}


ENGLISH = (
    Intent(HAS, "add_contact", added, example="Sam's number is +1 415 555 0123"),
    Intent(ASK, "find_contacts"),
    Intent(FIND, "find_contacts"),
    Intent(ALL, "list_contacts"),
    Intent(TEXT, "MessageSomeoneAgent", written, example="text Sam that I am late"),
)
