"""The demo model's understanding of requests about memory: patterns, and the forms of the tools' results."""

import re

from core.json_types import JsonObject
from workbench.demo.clauses import main_clause
from workbench.demo.intent import Found, Intent

REMEMBER = r"remember(?:,? that|[:,])? (?!to )(?P<statement>.+)"
LIST = r"what do you (?:know|remember)(?: about me)?|what have i told you(?: about me)?"
ASK = (
    r"(?:do you (?:know|remember)|what do you (?:know|remember) about) (?P<question>.+)"
    r"|(?P<asked>(?:what|who|where|when)(?: is|'s| are|'re| do| am| did)? (?:my|i) .+)"
)
SAID = (
    r"(?:(?:find|show(?: me)?|look up|search(?: for)?) )?what (?:did )?(?:we|i|you) (?:said|say|wrote|write|talked?)"
    r" (?:about|of) (?:the |my |our |an? )?(?P<words>.+)"
    r"|(?:search|look (?:in|through)) (?:our|my|the|all) (?:conversations?|messages|chats?) for"
    r" (?:the |my |our |an? )?(?P<more>.+)"
)
FORGET = (
    r"forget (?:everything about |about |that |what i (?:said|told you) about )?"
    r"(?!(?:about )?(?:it|that|this|them)$)(?P<what>.+)"
)
LISTED = r"[^\n]+[:\uff1a]\s*\n(?P<lines>\d.+)"
"""A result with a heading and then numbered memories."""

FORGET_THEM = Intent("", tool="forget", arguments=lambda match: {"memories": [*match["lines"].splitlines()]})
"""The call after ask_to_forget has found memories."""


def stated(match: Found) -> JsonObject:
    """Return the arguments of a statement to remember; a German clause becomes its main clause."""
    clause = match.groupdict().get("clause")
    return {"statement": main_clause(clause) if clause else match["statement"]}


def asked(match: re.Match[str]) -> JsonObject:
    """Return the arguments of a question."""
    return {"question": match["question"] or match["asked"]}


def said(match: Found) -> JsonObject:
    """Return search_messages' arguments."""
    given = match.groupdict()
    return {"words": (given["words"] or given.get("more") or "").strip(" ?!.\u3002\uff1f")}


SEARCH = Intent(SAID, tool="search_messages", arguments=said, example="find what we said about the boiler")
