"""The demo model's understanding of mail and accounts: patterns, calls after a match, and results in words."""

import re
from collections.abc import Mapping
from dataclasses import replace

from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.messaging.others_words import others_words
from workbench.demo.intent import Found, Intent
from workbench.demo.intent import named as groups_of

_MAILS = r"(?:e-?mails?|mails?|messages)"
_MY = r"(?:my |the |any )?"
_SHOW = r"(?:(?:show|read|check|list|find|get)(?: me)? )?"
INBOX = rf"(?:what(?:'s| is) in |check |{_SHOW})my (?:inbox|mailbox|e-?mails?|mail)"
UNREAD = (
    r"(?:(?:do i have|have i(?: got)?|is there|are there|what(?:'s| is)|show(?: me)?|read(?: me)?|check|list"
    r"|summari[sz]e) )?"
    rf"{_MY}(?P<unread>new|unread) {_MAILS}"
)
FROM = rf"{_SHOW}{_MY}(?:e-?mails?|mails?) from (?P<sender>[^,;?!]+)"
ABOUT = rf"(?:search|look|find)(?: in| through)? {_MY}(?:e-?mails?|mails?|inbox) (?:for|about) (?P<text>.+)"
WRITES = (
    r"(?:tell|let|alert|notify|text) me(?: know)? when(?:ever)? (?P<sender>[^,.;:?!]{1,40}?)"
    r" (?:writes|mails|e-?mails|sends (?:me )?(?:an? )?e?-?mail)(?: (?:me|to me))?"
)
CONNECT = (
    r"(?:connect|link) (?:my |an? |the )?(?:(?P<service>google|microsoft) )?"
    r"(?:(?P<kind>e-?mail|mail|mailbox|inbox|calendar|contacts)(?: account)?|account)s?"
)
ACCOUNTS = r"(?:which|what) accounts (?:are connected|have i connected|do i have)|(?:show|list)(?: me)? my accounts"
DISCONNECT = r"disconnect (?:my |the )?(?P<account>[^,;?!]+?)(?: account)?"
_KINDS = {"calendar": "calendar", "contacts": "contacts"}
_FOUND = re.compile(
    r"^From: (?P<sender>.+?)(?: <[^<>\n]*>)?$(?:\n(?!Subject:).*)*\nSubject: (?P<subject>.+)$", re.MULTILINE
)
NO_MAIL = gettext_noop("There is no such mail.")
WROTE = gettext_noop("{sender} has written to you.")


def searched(match: Found) -> JsonObject:
    """Return search_mail's arguments."""
    given = match.groupdict()
    wanted: JsonObject = {name: text.strip() for name in ("sender", "text") if (text := given.get(name))}
    if given.get("unread"):
        wanted["unread"] = True
    return {"find": wanted} if wanted else {}


def found(match: Found, arguments: JsonObject) -> Mapping[str, str]:
    """Return the mails of a result for people: their senders and subjects."""
    mails = [
        gettext("{label}: {value}", label=others_words(mail["sender"]), value=others_words(mail["subject"]))
        for mail in _FOUND.finditer(match[0])
    ]
    return {"lines": "\n".join(f"- {mail}" for mail in mails) or gettext(NO_MAIL)}


def writes(match: Found) -> JsonObject:
    """Return ScheduleTask's arguments for "tell me when Amazon writes"."""
    sender = match["sender"].strip()
    return {
        "what": gettext(WROTE, sender=sender[:1].upper() + sender[1:]),
        "event_source": "mail",
        "event_type": "mail.received",
        "event_filter": {"from": {"contains": sender.lower()}},
        "remind_only": True,
    }


def connected(match: Found) -> JsonObject:
    """Return connect_account's arguments."""
    given = match.groupdict()
    kind = (given.get("kind") or "").lower()
    wanted: JsonObject = {"service": given["service"].lower()} if given.get("service") else {}
    return wanted | ({"kinds": [_KINDS.get(kind, "mail")]} if kind else {})


SEARCH = Intent("", tool="search_mail", arguments=searched, phrase="{lines}", shown=found)
LINK = Intent("", tool="connect_account", arguments=connected)
"""The intent behind patterns of other languages."""
ENGLISH = (
    *(replace(SEARCH, pattern=pattern) for pattern in (INBOX, FROM, ABOUT)),
    replace(SEARCH, pattern=UNREAD, example="do I have new mail?"),
    Intent(WRITES, "ScheduleTask", writes),
    replace(LINK, pattern=CONNECT, example="connect my calendar"),
    Intent(ACCOUNTS, "list_accounts"),
    Intent(DISCONNECT, "disconnect_account", groups_of),
)
