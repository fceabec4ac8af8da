"""The points at which a process dies with households and the consents of two, what is expected, the removed writes.

What is expected is said in the words of `outcomes`: what is there in the end, and what both people were told.
"""

from enum import StrEnum

from tests.faults.worded import WordedMutation, WordedPoint, around, by_name, ends, some_of


class Kind(StrEnum):
    """What somebody wants. Each value of a joint consent is the word that ends the text, and opens the tool for it."""

    INVITE = "invite"
    """The owner is given a code for somebody."""
    QUESTION = "question"
    """Somebody writes a code, and is asked whether they want to join."""
    JOIN = "join"
    """They agree."""
    LEAVE = "leave"
    REMOVE = "remove"
    """The owner puts somebody out."""
    FREE = "free"
    """The owner makes an adult of a child, which ends its limits."""
    ASK = "agree"
    """Somebody wants a thing done only if the other agrees, too."""
    FIRST = "agrees"
    """The other approves first."""
    LAST = "agreed"
    """The other approves last."""
    NO = "consents"
    """The other refuses, after the asker has approved."""


type HouseholdPoint = WordedPoint[Kind]
type HouseholdMutation = WordedMutation[Kind]

JOINT = (Kind.ASK, Kind.FIRST, Kind.LAST, Kind.NO)

_CODE = "codes 1, answers 1"
_ASKED = "members 2, answers 2, told 1"
_JOINED = "members 2, answers 1, told 1"
_LEFT = "members 1, answers 1, told 1"
_FREED = "adult without a tier, answers 1, told 1"
_BOTH = "cards 1 and 1, acts 1, acted, told done"
_UNSURE = "acts 0, unsure, told doubtful"
_REFUSED = "cards 1 and 1, acts 0, refused, told nothing"
_DONE = "the deed is known by its turn: done once, and answered"
_ENDED = "the turn ends with its answer owed, or not at all"
_NEWS = "the news stands with the deed: claimed again after its pause, and told once by its key"
_LIFTED = "the limits are to be lifted until they are"
_STEP = "each step may be repeated: the row says how far it is"
_CARD = "the other's card has an id that follows from the asker's: shown once"
_USED = "both consents are used for one run, which a repeat finds"
_TOLD = "told once by its key"

POINTS: tuple[HouseholdPoint, ...] = (
    *ends(Kind.INVITE, _CODE, "a later code of the same turn replaces it", *around("invite_to_household")),
    *ends(Kind.INVITE, _CODE, _ENDED, *around("finish_turn")),
    *ends(Kind.QUESTION, _ASKED, _DONE, *around("join_household")),
    *ends(Kind.QUESTION, _ASKED, _ENDED, *around("finish_turn")),
    *ends(Kind.JOIN, _JOINED, "taken up by another worker", "claim_lane after"),
    *ends(Kind.JOIN, _JOINED, _DONE, *around("join_household")),
    *ends(Kind.JOIN, _JOINED, _ENDED, *around("finish_turn")),
    *ends(Kind.JOIN, _JOINED, _NEWS, "claim_household_news after", "claim_household_news unknown"),
    *ends(Kind.JOIN, _JOINED, _NEWS, *around("keep_notification")),
    *ends(Kind.LEAVE, _LEFT, _DONE, *around("leave_household")),
    *ends(Kind.LEAVE, _LEFT, _ENDED, *around("finish_turn")),
    *ends(Kind.LEAVE, _LEFT, _NEWS, "claim_household_news after", *around("keep_notification")),
    *ends(Kind.REMOVE, _LEFT, _DONE, *around("change_household_member")),
    *ends(Kind.REMOVE, _LEFT, _NEWS, "claim_household_news after", "keep_notification after"),
    *ends(Kind.FREE, _FREED, _DONE, *around("change_household_member")),
    *ends(Kind.FREE, _FREED, _LIFTED, "claim_limits_to_lift after", *around("lift_limits")),
    *ends(Kind.FREE, _FREED, _NEWS, "claim_household_news after", "keep_notification after"),
    *ends(Kind.ASK, _BOTH, "the asker's card and the joint row are one write", *around("finish_turn")),
    *ends(Kind.ASK, _BOTH, _STEP, "claim_joint after", "claim_joint unknown", *around("settle_joint")),
    *ends(Kind.ASK, _BOTH, _CARD, *around("joint_to_ask"), *around("show_second"), *around("note_asked")),
    *ends(Kind.FIRST, _BOTH, _STEP, "claim_joint after", *around("settle_joint")),
    *ends(Kind.LAST, _BOTH, _STEP, "claim_joint after", *around("settle_joint")),
    *ends(Kind.LAST, _BOTH, _USED, *around("use_joint")),
    *ends(Kind.LAST, _BOTH, "nothing had started", "started before"),
    *ends(Kind.LAST, f"cards 1 and 1, {_UNSURE}", "it had started: not run again, and told", "started after"),
    *ends(
        Kind.LAST,
        "cards 1 and 1, acts 1, unsure, told done",
        "it had started: not run again, and told; that it was done is written down for the other",
        "result before",
    ),
    *ends(Kind.LAST, _BOTH, "its end is written down", "result after", *around("finish_turn")),
    *ends(Kind.LAST, _BOTH, _TOLD, *around("joint_news"), *around("keep_notification"), *around("note_told")),
    *ends(Kind.NO, _REFUSED, _STEP, "claim_joint after", *around("settle_joint"), *around("end_second")),
    *ends(Kind.NO, _REFUSED, _ENDED, *around("finish_turn")),
    *ends(Kind.NO, _REFUSED, _TOLD, *around("note_told")),
)
BY_NAME = by_name(POINTS)

MUTATIONS: tuple[HouseholdMutation, ...] = (
    WordedMutation("news keys", BY_NAME[Kind.JOIN, "keep_notification after"]),
    WordedMutation("news keys", BY_NAME[Kind.LAST, "keep_notification after"]),
    WordedMutation("started", BY_NAME[Kind.LAST, "result before"]),
)
"""Each removes one protecting write, or what a write is known by."""
SHORT = some_of(
    BY_NAME,
    {
        Kind.QUESTION: ("join_household after",),
        Kind.JOIN: ("join_household after", "claim_household_news after", "keep_notification after"),
        Kind.LEAVE: ("leave_household unknown",),
        Kind.REMOVE: ("change_household_member after",),
        Kind.FREE: ("lift_limits before",),
        Kind.ASK: ("show_second after", "note_asked before"),
        Kind.FIRST: ("settle_joint after",),
        Kind.LAST: ("settle_joint after", "use_joint after", "started after", "note_told before"),
        Kind.NO: ("end_second after",),
    },
)
"""What the suite runs of them."""
