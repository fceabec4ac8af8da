"""The judge of claims: an answer that says it did something, in a turn without a call that did, is asked again once.

If the next answer claims it again, the person reads below it that it is not done.
"""

import re
from collections.abc import Iterable

from abilities.judge.claims.languages import words_of
from abilities.judge.claims.rules import TELLING, Claim, claims_in, understood
from core.hooks.hooks import Messages
from core.hooks.judge import ALL_WELL, Act, Judgement, Trail
from core.language.catalogue import gettext, gettext_noop
from core.llm.types import ChatMessage, Marker, ModelAnswer, Role
from core.replies import GO_ON

ASKED_AGAIN, MARKED = "claim without a call", "claim marked"
"""The findings under which `trace` and the console show it."""
NOT_YET = gettext_noop("I have not done this yet.")
NOT_THIS_YET = gettext_noop('I have not done this yet: "{claim}"')
_ADVICE = "Before the person reads your answer: it claims something that no call of this turn did"
_MAX_QUOTE = 120
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_OWN = words_of("remind reminder list note preference remember memory skill tick heartbeat briefing contact contacts")
_REACHING = words_of(
    "mail email message messages send someone text sms event calendar invite book booking order buy pay payment post "
    "publish share task call notify reply"
)
_DOING = words_of("send save export brief put post make create write set add attach")
_LOOKING = words_of("search find list show read get look web current calculate why fetch check query ask")


class Claims:
    """Hold the claims of answers against the calls of the turn."""

    telling = TELLING

    def rate(self, messages: Messages, trail: Trail, answer: ModelAnswer) -> Judgement:
        """Look for a claim that no call backs."""
        before, said = _parted(messages)
        asked = understood(". ".join(said), offered=_offers(before))
        acts = [act for step in trail for act in step]
        if not asked.wants_act and (_acted(before) or (asked.inquires and any(act.ok for act in acts))):
            return ALL_WELL  # it may be news of an earlier act, or of what was found
        claims = [claim for claim in claims_in(answer.text, asked) if not _backed(claim, acts)]
        if not claims:
            return ALL_WELL
        mark = "" if asked.inquires or not claims[0].sure else _mark(claims[0], acts)
        if not _advised(messages):
            return Judgement(ASKED_AGAIN, _advice(claims[0]), mark=mark)
        return Judgement(MARKED, mark=mark) if mark else ALL_WELL


def _parted(messages: Messages) -> tuple[Messages, list[str]]:
    """Return the conversation before the turn, and the words that it answers: all that the person wrote in it.

    A task's run answers the task's words; a turn that goes on answers the words that began it.
    """
    last = max((at for at, message in enumerate(messages) if _by_the_person(message)), default=0)
    begins = max((at + 1 for at, message in enumerate(messages) if message.marker is Marker.CONTEXT), default=last)
    if last >= begins:
        return messages[:begins], [message.text for message in messages[begins:] if _by_the_person(message)]
    first = messages[begins] if begins < len(messages) else None
    if first is not None and first.role is Role.USER and first.text != GO_ON:
        return messages[:begins], [first.text]
    return messages[:last], [messages[last].text]


def _by_the_person(message: ChatMessage) -> bool:
    others = message.internal or message.outside or message.marker is Marker.FILE
    return message.role is Role.USER and not others


def _offers(before: Messages) -> bool:
    """Return whether the assistant's last answer before the turn asks something."""
    answers = (message.text for message in reversed(before) if message.role is Role.ASSISTANT and message.text)
    return any(sign in next(answers, "") for sign in "?？")


def _acted(before: Messages) -> bool:
    """Return whether the conversation shows a call of an earlier turn that did more than look."""
    calls = (call for message in before for call in message.tool_calls)
    return any(not _LOOKING & set(_words(call.name)[:1]) for call in calls)


def _backed(claim: Claim, acts: Iterable[Act]) -> bool:
    """Return whether a call of the turn may have done the claimed act.

    A call's name says whether it only changed the person's own records, which sends and books nothing. A tool that
    looks and also does something, such as one that saves a mail's file, is known by its name.
    """
    for act in acts:
        words = set(_words(act.name))
        if act.acted and not (claim.outward and words & _OWN and not words & _REACHING):
            return True
        if act.ok and not act.acted and words & _DOING:
            return True
    return False


def _words(name: str) -> list[str]:
    return [word.lower() for word in _NAME_WORDS.findall(name)]


def _advised(messages: Messages) -> bool:
    return any(message.internal and message.text.startswith(_ADVICE) for message in messages)


def _advice(claim: Claim) -> str:
    return (
        f"{_ADVICE}: {_quote(claim)!r}. If one of your tools does it, call it now. If none does, or it failed, answer "
        "anew and say plainly that it is not done. If somebody else did it, or it was done before, say who or when."
    )


def _mark(claim: Claim, acts: Iterable[Act]) -> str:
    """Return the sentence for the person; where the turn did something else, it names the claim."""
    if any(act.acted for act in acts):
        return gettext(NOT_THIS_YET, claim=_quote(claim))
    return gettext(NOT_YET)


def _quote(claim: Claim) -> str:
    words = " ".join(claim.sentence.split())
    return words if len(words) <= _MAX_QUOTE else f"{words[: _MAX_QUOTE - 1].rstrip()}…"
