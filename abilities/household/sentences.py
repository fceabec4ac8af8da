"""Sentences about households, for answers to words and for news to members."""

from collections.abc import Mapping, Sequence

from abilities.household.chat_words import (
    AGREED,
    CALENDAR,
    CREATE,
    END,
    HOUSEHOLD,
    INVITE,
    JOIN,
    LEAVE,
    MAKE,
    REMOVE,
    ROLES,
    SHOWN,
    VERBS,
)
from abilities.household.roles import HouseholdRole, ShownCalendar
from abilities.household.types import Deed, Household, Member, Outcome
from core.language.catalogue import current_language, gettext, gettext_noop, in_a_row, listed
from core.messaging.help_text import as_typed

_IN_CAPITALS = ("sms", "email")
"""The channels on which words stand in capitals."""
_ENDED = gettext_noop("“{household}” has ended, and what was shared in it is deleted.")
_NOT_AGAIN = gettext_noop("That code does not work, or no longer: ask for a new one.")
_BY_OUTCOME: Mapping[Outcome, str] = {
    Outcome.MADE: gettext_noop("“{household}” now exists, and you are its owner. To invite somebody, write: {invite}"),
    Outcome.JOINED: gettext_noop("You are now in “{household}” ({role}). To leave it, write: {leave}"),
    Outcome.LEFT: gettext_noop(
        "You have left “{household}”. What is your own is still yours; what you shared stays there."
    ),
    Outcome.CHANGED: gettext_noop("{who} is in “{household}” as: {role}."),
    Outcome.SAME: gettext_noop("{who} is in “{household}” as: {role}."),
    Outcome.REMOVED: gettext_noop("{who} is no longer in “{household}”."),
    Outcome.ENDED: _ENDED,
    Outcome.MEMBER: gettext_noop("You are in a household already. To leave it first, write: {leave}"),
    Outcome.INSIDE: gettext_noop("You are in this household already."),
    Outcome.FULL: gettext_noop("This household has no room for anybody else."),
    Outcome.LAST: gettext_noop(
        "You are the only adult there: without you the household ends. To end it for all of you, write: {end}"
    ),
    Outcome.CHILD: gettext_noop("Only an adult of the household can do that."),
    Outcome.NOT_OWNER: gettext_noop("Only the owner of the household can do that."),
    Outcome.REFUSED: gettext_noop(
        "A child can become an adult, and an adult the owner. To have somebody in it as a child, invite them as one: "
        "they have to agree."
    ),
    Outcome.WRONG: _NOT_AGAIN,
    Outcome.USED: _NOT_AGAIN,
    Outcome.EXPIRED: _NOT_AGAIN,
    Outcome.LIMITED: gettext_noop("Too many wrong codes: try again in an hour."),
}
_SHOWN: Mapping[ShownCalendar, str] = {
    ShownCalendar.NOTHING: gettext_noop("The others in “{household}” see nothing of your calendars now."),
    ShownCalendar.BUSY: gettext_noop(
        "The others in “{household}” see when you are busy now, and nothing else of your calendars. To end that, "
        "write: {off}"
    ),
    ShownCalendar.TITLES: gettext_noop(
        "The others in “{household}” see the times and titles in your calendars now. To end that, write: {off}"
    ),
}
_SHOWS: Mapping[ShownCalendar, str] = {
    ShownCalendar.BUSY: gettext_noop("{person} shows when they are busy"),
    ShownCalendar.TITLES: gettext_noop("{person} shows their calendar"),
}
_BY_KIND: Mapping[str, str] = {
    "joined": gettext_noop("{who} has joined “{household}” ({role})."),
    "left": gettext_noop("{who} has left “{household}”."),
    "removed": gettext_noop("{who} is no longer in “{household}”."),
    "put_out": gettext_noop(
        "You are no longer in “{household}”: its owner has removed you. What you shared stays there."
    ),
    "ended": _ENDED,
    "owner": gettext_noop("{who} is in “{household}” as: {role}."),
    "adult": gettext_noop("{who} is in “{household}” as: {role}."),
    "child": gettext_noop("{who} is in “{household}” as: {role}."),
    "merged": gettext_noop("The link has removed you from “{household}”, as nobody can be in two households."),
}
"""News to members about each other, by the kinds of the SQL functions."""
_TO_THEMSELVES = gettext_noop("You are now in “{household}” ({role}).")


def typed(channel: str, verb: str = "", *more: str) -> str:
    """Return the word with a deed as a person types it on a channel, in their language."""
    language = current_language()
    words = [VERBS[verb].get(language, verb)] if verb else []
    words += [_written(one, language) for one in more]
    if channel in _IN_CAPITALS:
        return " ".join([HOUSEHOLD.word(), *words]).upper()
    return " ".join([as_typed(HOUSEHOLD, channel), *words])


def _typed(channel: str, word: str) -> str:
    written = _written(word, current_language())
    return written.upper() if channel in _IN_CAPITALS else written


def _written(word: str, language: str) -> str:
    if isinstance(word, HouseholdRole):
        return ROLES[word].get(language, word)
    return SHOWN[word].get(language, word) if isinstance(word, ShownCalendar) else word


def nobody(channel: str) -> str:
    """Return the answer to a person who is in no household."""
    return gettext(
        "You are in no household. The people of a household share lists, notes and memories. To make one, give it a "
        "name, such as: {create} Rose Cottage\nTo join somebody's, ask them for a code.",
        create=typed(channel, CREATE),
    )


def overview(home: Household | None, person: str, channel: str) -> str:
    """Return who is in a person's household, and the words about it."""
    if home is None:
        return nobody(channel)
    people = [f"{number}. {_member(one)}" for number, one in enumerate(home.people, 1)]
    role = next((one.role for one in home.people if one.id == person), None)
    first, *more = SHOWN
    after = [
        gettext(
            "You share the lists, notes and memories that you call “ours”, and of your calendars only what you show "
            "by: {words}",
            words=in_a_row([typed(channel, CALENDAR, first), *(f"… {_typed(channel, how)}" for how in more)]),
        ),
        gettext("To change that, write: {words}", words=in_a_row(_words_for(role, channel))),
    ]
    # A line that follows a list at once belongs to its last item, in Markdown.
    return "\n\n".join([gettext("“{household}”:", household=home.shown), "\n".join(people), "\n".join(after)])


def _member(one: Member) -> str:
    person = f"{one.shown} ({_role(one.role)})"
    return gettext(_SHOWS[one.calendar], person=person) if one.calendar in _SHOWS else person


def _words_for(role: HouseholdRole | None, channel: str) -> Sequence[str]:
    """Return the words that a member of a role may write."""
    words = [typed(channel, LEAVE)]
    if role is not HouseholdRole.CHILD:
        words += [typed(channel, INVITE), typed(channel, INVITE, HouseholdRole.CHILD)]
    if role is HouseholdRole.OWNER:
        words += [typed(channel, REMOVE, "2"), typed(channel, MAKE, "2", HouseholdRole.OWNER), typed(channel, END)]
    return words


def invitation(code: str, role: HouseholdRole) -> str:
    """Return the answer with a code; it is typed in whatever language the other person has."""
    return gettext(
        "Pass this on to whoever you invite ({role}), and to nobody else; it is good for a day. They write to me: "
        "{words}\nThey see who invites them, and have to agree. I tell you when they are in.",
        role=_role(role),
        words=f"{typed('sms', JOIN)} {code}",
    )


def question(deed: Deed, code: str, channel: str) -> str:
    """Return the question to a person who typed a code: the inviting person, and the data that is shared."""
    who = deed.who or Member("")
    asked = gettext(
        "{who} invites you to “{household}” ({role}), with {people}. You would share with all of them the lists, notes "
        "and memories that you call “ours”; they see your name, and nothing else that I keep for you. You can leave at "
        "any time. If you want to join, write: {words}",
        who=f"{who.shown}, {who.place}" if who.called else who.place,
        household=deed.household,
        role=_role(deed.role),
        people=listed([one.shown for one in deed.people]),
        words=f"{typed(channel, JOIN)} {code} {AGREED}",
    )
    if not deed.limited:
        return asked
    limits = gettext("As a child you have the limits that are set for children here, until an adult's word lifts them.")
    return f"{limits} {asked}"


def end_question(deed: Deed, channel: str) -> str:
    """Return the question before a household ends."""
    return gettext(
        "This ends “{household}” for all of its members, and deletes what you share for good. If you want that, write: "
        "{words}",
        household=deed.household,
        words=typed(channel, END, AGREED),
    )


def long_name(most: int) -> str:
    """Return the answer to a name that is too long."""
    return gettext("A household's name has 1 to {number} characters.", number=most)


def leave_instead(channel: str) -> str:
    """Return the answer to an owner who would put themselves out."""
    return gettext("To leave it yourself, write: {leave}", leave=typed(channel, LEAVE))


def too_many_invitations() -> str:
    """Return the answer to a member who has invited too many."""
    return gettext("There were too many invitations today; try again tomorrow.")


def unknown(words: str, channel: str) -> str:
    """Return the answer about a name that no member has, or several."""
    return gettext(
        "“{name}” does not name exactly one member of your household. To see who is in it, write: {words}",
        name=Household("", words, ()).shown,
        words=typed(channel),
    )


def of_deed(deed: Deed, channel: str) -> str:
    """Return the answer to a deed."""
    return of_outcome(deed.outcome, channel, deed)


def of_outcome(outcome: Outcome, channel: str, deed: Deed | None = None) -> str:
    """Return the answer to an outcome."""
    if outcome is Outcome.NONE:
        return nobody(channel)
    return gettext(
        _SHOWN[deed.calendar] if outcome is Outcome.SHOWN and deed else _BY_OUTCOME[outcome],
        household=deed.household if deed else "",
        who=deed.who.shown if deed and deed.who else "",
        role=_role(deed.role) if deed else "",
        invite=typed(channel, INVITE),
        leave=typed(channel, LEAVE),
        end=typed(channel, END),
        off=typed(channel, CALENDAR, ShownCalendar.NOTHING),
    )


def news(kind: str, deed: Deed, person: str) -> str:
    """Return the news of another member, or of the household, as a sentence."""
    sentence = (
        _TO_THEMSELVES if kind in ("owner", "adult", "child") and deed.who and deed.who.id == person else _BY_KIND[kind]
    )
    who = deed.who.shown if deed.who else ""
    return gettext(sentence, household=deed.household, who=who, role=_role(deed.role))


def _role(role: HouseholdRole | None) -> str:
    return gettext(role.value) if role else ""
