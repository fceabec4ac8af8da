"""The words about joint consents: for the model that tells the asker, and for the other person."""

from collections.abc import Mapping

from core.journal.types import Outcome
from core.language.catalogue import gettext, gettext_noop
from core.messaging.visible_text import literal

REASONS: Mapping[str, str] = {
    "other_refused": "{who} did not agree.",
    "expired": "not both decided in time.",
    "refused": "the person took it back.",
    "changed": "the person changed it.",
    "other_changed": "{who} changed it, and both are asked again.",
    "left": "{who} and the person are no longer in one household, or {who} may not decide there.",
    "away": "{who} cannot be reached, or wrote STOP.",
    "asker_away": "the person cannot be reached.",
    "gone": "{who} is no longer here.",
    "too_long": "it is too long to be shown in full to {who}.",
    "places": "{who} has linked or unlinked a place meanwhile. If the person still wants it, ask both again.",
    "altered": "it is not what {who} agreed to.",
}
"""Why an action does not run, for the model: by the reasons that the SQL functions name."""
_TO_OTHER: Mapping[str, str] = {
    "expired": gettext_noop("{code} is over: not both of you decided in time. Nothing was done: {summary}."),
    "refused": gettext_noop("{code} is over: {who} took it back. Nothing was done: {summary}."),
    "changed": gettext_noop("{code} is over: {who} changed it. If that needs your consent, you get a new card."),
    "left": gettext_noop("{code} is over: you and {who} no longer share a household. Nothing was done: {summary}."),
}
"""The news for the other person, by the reason; none if they ended it themselves."""
_OVER = gettext_noop("{code} is over. Nothing was done: {summary}.")
_SILENT = ("other_refused", "other_changed", "gone", "too_long")


def card_summary(who: str, summary: str) -> str:
    """Return the heading of the other person's card, as plain text."""
    return gettext("{who} asks whether you agree: {summary}", who=who, summary=summary)


def card_note(who: str) -> str:
    """Return the reason why the other person is asked, as plain text."""
    return gettext("{who} wants this done only if you agree, too. It runs once both of you have approved.", who=who)


def end_for_other(reason: str, who: str, code: str, summary: str) -> str:
    """Return the notice of the end to the other person, as Markdown; empty for none."""
    if reason in _SILENT:
        return ""
    return gettext(_TO_OTHER.get(reason, _OVER), who=literal(who), code=code, summary=literal(summary))


_RAN: Mapping[Outcome | None, str] = {
    Outcome.OK: gettext_noop("{code} is done, as you and {who} agreed: {summary}."),
    None: gettext_noop("{code} was not done after all: {summary}. {who} can tell you more."),
}
_DOUBTFUL = gettext_noop(
    "You and {who} agreed to {code}, but it may not have worked: {summary}. {who} can tell you more."
)


def run_for_other(outcome: Outcome | None, who: str, code: str, summary: str) -> str:
    """Return the notice to the other person after both agreed; `outcome`: that of the run, None if it never began."""
    return gettext(_RAN.get(outcome, _DOUBTFUL), who=literal(who), code=code, summary=literal(summary))
