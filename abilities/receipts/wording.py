"""Receipts in a person's words. Pure."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from abilities.receipts.types import Card, Counts, Days, Receipt, ReceiptOutcome
from core.language.catalogue import gettext, gettext_noop, name_in_words, ngettext
from core.language.times import day_in_words, moment_in_words
from core.messaging.visible_text import literal, plain_line

_HOW = {
    "button": gettext_noop("approved by you with a button, {channel}"),
    "form": gettext_noop("approved by you with a form, {channel}"),
    "code": gettext_noop("approved by you with its code, {channel}"),
    "code and number": gettext_noop("approved by you with its code and a number, {channel}"),
    "words": gettext_noop("approved by you in your own words, {channel}"),
}
_APPROVED = gettext_noop("approved by you, {channel}")
_ENDED = {
    ReceiptOutcome.UNKNOWN: gettext_noop("It is not known whether it took effect."),
    ReceiptOutcome.OPEN: gettext_noop("It is under way."),
    ReceiptOutcome.PART: gettext_noop("A part was done, then I asked you."),
}
_CHANNELS = {"sms": "SMS"}


def listed(receipts: Sequence[Receipt], counts: Counts, days: Days, zone: ZoneInfo) -> str:
    """Return receipts as a list, in Markdown; `receipts` are the newest of those that are counted."""
    first, last = day_in_words(days.first), day_in_words(days.last)
    if not receipts:
        return gettext("Nothing was done in your name from {first} to {last}.", first=first, last=last)
    heading = ngettext(
        "{number} thing was done in your name from {first} to {last}:",
        "{number} things were done in your name from {first} to {last}:",
        counts.receipts,
        first=first,
        last=last,
    )
    after = [
        gettext(
            "The cards, the services' answers, and a file to check are in the console, under Receipts: write CONSOLE."
        )
    ]
    if (more := counts.receipts - len(receipts)) > 0:
        after.insert(0, ngettext("{number} more is older.", "{number} more are older.", more))
    return "\n\n".join([heading, "\n".join(f"- {_line(one, zone)}" for one in receipts), "\n".join(after)])


def title_of(receipt: Receipt) -> str:
    """Return the name of an effect: the heading of its card, else the tool's name in words."""
    return plain_line(receipt.card.summary) if receipt.card else name_in_words(receipt.tool)


def basis_of(receipt: Receipt) -> str:
    """Return the consent behind an effect, in words."""
    if receipt.card is not None and receipt.card.also:
        basis, who = _decided(receipt.card), plain_line(receipt.card.also)
        return gettext("{basis}, and by {who}", basis=basis, who=who)
    if receipt.card is not None:
        return _decided(receipt.card)
    if receipt.consent is not None:
        return gettext(
            "by your consent {number}, use {use}, without a card",
            number=receipt.consent.number,
            use=receipt.consent.use,
        )
    return gettext("without a card: this needs no approval")


def ended_of(receipt: Receipt) -> str:
    """Return the sentence about the end of an effect; empty if it was done."""
    sentence = _ENDED.get(receipt.outcome)
    return gettext(sentence) if sentence else ""


def _line(receipt: Receipt, zone: ZoneInfo) -> str:
    said = gettext(
        "{when}: {what} ({basis}). Receipt {number}",
        when=moment_in_words(receipt.at, zone),
        what=literal(title_of(receipt)),
        basis=literal(basis_of(receipt)),
        number=receipt.number,
    )
    ended = ended_of(receipt)
    return f"{said}. {ended}" if ended else said


def _decided(card: Card) -> str:
    if card.decided_on == "operator" or card.how == "operator":
        return gettext("approved by the operator")
    if card.decided_on == "console":
        return gettext("approved by you in the console")
    channel = _CHANNELS.get(card.decided_on, card.decided_on.capitalize())
    return gettext(_HOW.get(card.how, _APPROVED), channel=channel)
