"""The points at which a process dies with voices, held answers, follow-ups and groups, the ends, the removed writes.

What is expected is said in the words of `outcomes`: what is there in the end, and what people were told.
"""

from enum import StrEnum

from tests.faults.worded import Struck, WordedMutation, WordedPoint, around, by_name, ends, some_of


class Kind(StrEnum):
    """What somebody wants. Each value of a text for the model is the word that ends it."""

    SPOKEN = "aloud"
    """Their answer is spoken too, in Slack."""
    HELD = "lengthy"
    """Their answer by SMS is long: they are asked how it is to come."""
    SENT = "whole"
    """They want all of it."""
    SHORTENED = "brief"
    """They want it shortened."""
    LAPSED = "lapsing"
    """They do not choose."""
    PROPOSED = "ahead"
    """Something is ahead of them: a follow-up is proposed."""
    KEPT = "keep"
    """They want to be asked about it."""
    DECLINED = "decline"
    FORGONE = "forgo"
    """They want no follow-ups any more."""
    ASKED = "after"
    """It is over: they are asked how it went."""
    ALLOWED = "allowed"
    """The installation's owner turns the assistant on in a group on Telegram."""
    WANTED = "wanted"
    """Somebody else wants it there: the owner is asked."""
    HANDED = "handed"
    """A member asks there for what needs consent: the card is shown in their own chat."""


type AbilityPoint = WordedPoint[Kind]
type AbilityMutation = WordedMutation[Kind]

OF_SPEECH = (Kind.SPOKEN,)
OF_COST = (Kind.HELD, Kind.SENT, Kind.SHORTENED, Kind.LAPSED)
OF_FOLLOWUPS = (Kind.PROPOSED, Kind.KEPT, Kind.DECLINED, Kind.FORGONE, Kind.ASKED)
OF_GROUPS = (Kind.ALLOWED, Kind.WANTED, Kind.HANDED)

_SPOKEN = "answers 1, recordings 1, made 1"
_REMADE = "answers 1, recordings 1, made 2"
_HELD = "questions 1, answers 0, links 0"
_CHOSEN = "questions 1, answers 1, links 0"
_LAPSED = "questions 1, answers 1, links 1"
_PROPOSED = "proposed, notices 1, tasks 0, told 0"
_KEPT = "kept, notices 1, tasks 1, told 1"
_DECLINED = "declined, notices 1, tasks 0, told 1"
_OVER = "over, notices 1, tasks 0, told 1"
_ASKED = "asked, notices 2, tasks 1, told 1"
_ON = "on, said 1"
_WAITING = "waiting, said 1, owner told 1"
_HANDED = "on, said 1, cards 1, told 2"
_AGAIN = "not acknowledged: it comes again; written: it is known"
_ENDED = "the turn ends with its answer owed, or not at all"
_LOST = "what is not kept is made once more, and no more"
_QUESTION = "what was asked once is asked again"
_DONE = "the deed is known by its turn: done once, and answered"
_PROPOSAL = "a memory is proposed once"
_CLAIM = "the claim is known by its owner, or comes again after its lease"
_SETTLED = "a group is settled once for each time that it asked"

POINTS: tuple[AbilityPoint, ...] = (
    *ends(Kind.SPOKEN, _SPOKEN, "the answer and its voice are one write", *around("finish_turn")),
    *ends(Kind.SPOKEN, _SPOKEN, _CLAIM, "claim_speech after", "claim_speech unknown", "speak before"),
    *ends(Kind.SPOKEN, _REMADE, _LOST, "speak after", "store before", "store after", "begin_file before"),
    *ends(Kind.SPOKEN, _REMADE, _LOST, "begin_file after", "keep_transcript before", "keep_transcript after"),
    *ends(Kind.SPOKEN, _SPOKEN, "the write is repeated", "begin_file unknown", "keep_transcript unknown"),
    *ends(Kind.SPOKEN, _REMADE, _LOST, "end_speech before"),
    *ends(Kind.SPOKEN, _SPOKEN, "its end and its message are one write", "end_speech after", "end_speech unknown"),
    *ends(Kind.SPOKEN, _SPOKEN, "looked up by its name and size", "upload before", "upload halfway", "upload after"),
    *ends(Kind.HELD, _HELD, _QUESTION, *around("hold_answer"), *around("begin_rendered")),
    *ends(Kind.HELD, _HELD, "looked up: asked once", "send before", "send after", *around("end_delivery")),
    *ends(Kind.SENT, _CHOSEN, _DONE, "claim_lane after", *around("choose_answer")),
    *ends(Kind.SENT, _CHOSEN, _ENDED, *around("finish_turn")),
    *ends(Kind.SHORTENED, _CHOSEN, _DONE, *around("choose_answer")),
    *ends(Kind.LAPSED, _LAPSED, "decided once, for all workers", *around("lapse_answer")),
    *ends(Kind.LAPSED, _LAPSED, "looked up: sent once", "send before", "send after"),
    *ends(Kind.PROPOSED, _PROPOSED, _PROPOSAL, *around("settle_followups"), *around("propose_followup")),
    *ends(Kind.KEPT, _KEPT, _DONE, "claim_lane after", *around("decide_followup")),
    *ends(Kind.KEPT, _KEPT, _ENDED, *around("finish_turn")),
    *ends(Kind.DECLINED, _DECLINED, _DONE, *around("decide_followup")),
    *ends(Kind.FORGONE, _OVER, _DONE, *around("switch_followups")),
    *ends(Kind.ASKED, _ASKED, "the run is known by its occurrence", *around("ask_followup"), *around("finish_turn")),
    *ends(Kind.ALLOWED, _ON, _AGAIN, *around("take_in_group"), struck=Struck.WEB),
    *ends(Kind.ALLOWED, _ON, _SETTLED, "claim_asked_groups after", "claim_asked_groups unknown"),
    *ends(Kind.ALLOWED, _ON, _SETTLED, *around("settle_group")),
    *ends(Kind.WANTED, _WAITING, "the owner's news has a key of that time", *around("keep_notification")),
    *ends(Kind.WANTED, _WAITING, _SETTLED, *around("settle_group")),
    *ends(Kind.HANDED, _HANDED, _AGAIN, *around("take_in_group"), struck=Struck.WEB),
    *ends(Kind.HANDED, _HANDED, "known by the message: asked once", *around("ask_in_own_chat")),
    *ends(Kind.HANDED, _HANDED, _ENDED, "claim_lane after", *around("finish_turn")),
)
BY_NAME = by_name(POINTS)

MUTATIONS: tuple[AbilityMutation, ...] = (
    WordedMutation("end_speech", BY_NAME[Kind.SPOKEN, "end_speech unknown"]),
    WordedMutation("hold_answer", BY_NAME[Kind.HELD, "hold_answer unknown"]),
    WordedMutation("choose_answer", BY_NAME[Kind.SENT, "choose_answer unknown"]),
    WordedMutation("decide_followup", BY_NAME[Kind.KEPT, "decide_followup unknown"]),
    WordedMutation("switch_followups", BY_NAME[Kind.FORGONE, "switch_followups unknown"]),
    WordedMutation("news keys", BY_NAME[Kind.WANTED, "keep_notification after"]),
    WordedMutation("take_in_group", BY_NAME[Kind.HANDED, "take_in_group unknown"]),
    WordedMutation("ask_in_own_chat", BY_NAME[Kind.HANDED, "ask_in_own_chat unknown"]),
)
"""Each removes one protecting write, or what a write is known by."""
SHORT = some_of(
    BY_NAME,
    {
        Kind.SPOKEN: ("speak after", "end_speech after"),
        Kind.HELD: ("hold_answer after",),
        Kind.SENT: ("choose_answer after",),
        Kind.LAPSED: ("lapse_answer unknown",),
        Kind.PROPOSED: ("propose_followup after",),
        Kind.KEPT: ("decide_followup before",),
        Kind.ASKED: ("ask_followup after",),
        Kind.ALLOWED: ("settle_group before",),
        Kind.WANTED: ("keep_notification after",),
        Kind.HANDED: ("ask_in_own_chat after",),
    },
)
"""What the suite runs of them."""
