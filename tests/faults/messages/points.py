"""The points at which a process dies of what a person does besides writing, what is expected, and the removed writes.

What is expected is said in the words of `outcomes`.
"""

from enum import StrEnum

from tests.faults.worded import Struck, WordedMutation, WordedPoint, around, by_name, ends, some_of


class Kind(StrEnum):
    """What a person does. Each value is the word that follows their text's token."""

    SOONER = "sooner"
    """They change it before a worker has read it, on Telegram as all the others where nothing else is said."""
    MEANWHILE = "meanwhile"
    """They change it while a worker answers it."""
    LATER = "later"
    """They change it when it is answered."""
    VOIDED = "voided"
    """They change it while its card is open."""
    GONE = "gone"
    """They delete it before a worker has read it, in Slack."""
    THUMB = "thumb"
    """They approve its card by a reaction, in Slack."""
    REACTED = "reacted"
    TAPBACK = "tapback"
    """They approve its card by a reaction of their phone, by SMS."""
    LIKED = "liked"
    """They like its answer."""
    ARRIVED = "arrived"
    """They share where they are, and get to where they want to be reminded."""
    LINKED = "linked"
    """Their phone tells where they are, by a link that they got by SMS."""
    CLAIMED = "claimed"
    """The answer claims twice what no call did."""


type MessagePoint = WordedPoint[Kind]
type MessageMutation = WordedMutation[Kind]

EDITED = (Kind.SOONER, Kind.MEANWHILE, Kind.LATER, Kind.VOIDED)
THUMBS = (Kind.THUMB, Kind.REACTED, Kind.TAPBACK)

_AGAIN = "not acknowledged: it comes again; written: it is known"
_SOONER = "answers 1 changed"
_MEANWHILE = "answers 1 changed, acted 1"
_LATER = "answers 2 changed, told"
_VOIDED = "answers 1 changed, told, cancelled amended, acted 0"
_APPROVED = "approved reaction, acted 1, reaction: approve 1"
_LIKED = "feedback 👍 1"
_ARRIVED = "reminded 1"
_LINKED = "places 1, told 1"
_MARKED = "answers 1 marked, asked again 1"
_LEASE = "the lease ends, and another worker goes on from the journal"
_RESENT = "Telegram cannot be asked what it took: it is sent again, counted"

POINTS: tuple[MessagePoint, ...] = (
    *ends(Kind.SOONER, _SOONER, _AGAIN, "amendment_facts after", *around("receive_amendment"), struck=Struck.WEB),
    *ends(Kind.SOONER, _SOONER, "the turn that had begun has the new words", "claim_lane after", "finish_turn before"),
    *ends(Kind.MEANWHILE, _MEANWHILE, _LEASE, *around("steer")),
    *ends(Kind.MEANWHILE, _MEANWHILE, _LEASE, "finish_turn before", "finish_turn after"),
    *ends(Kind.LATER, _LATER, _AGAIN, "amendment_facts after", *around("receive_amendment"), struck=Struck.WEB),
    *ends(Kind.LATER, _LATER, _LEASE, "claim_lane after", *around("finish_turn")),
    *ends(Kind.VOIDED, _VOIDED, _AGAIN, "amendment_facts after", *around("receive_amendment"), struck=Struck.WEB),
    *ends(Kind.VOIDED, _VOIDED, _LEASE, "claim_lane after", "finish_turn before", "finish_turn after"),
    *ends(Kind.GONE, "answers 0, deleted", _AGAIN, *around("receive_deletion"), struck=Struck.WEB),
    *(
        point
        for kind in THUMBS
        for point in ends(kind, _APPROVED, _AGAIN, "reacted_message after", *around("receive_press"), struck=Struck.WEB)
    ),
    *ends(Kind.REACTED, _APPROVED, _LEASE, "claim_lane after", "finish_turn before", "finish_turn after"),
    *ends(Kind.LIKED, _LIKED, _AGAIN, "reacted_message after", *around("receive_reaction"), struck=Struck.WEB),
    *ends(Kind.ARRIVED, _ARRIVED, _AGAIN, *around("note_brought"), struck=Struck.WEB),
    *ends(Kind.ARRIVED, _ARRIVED, "the look counts for the revision that it read", *around("record_look")),
    *ends(Kind.ARRIVED, _ARRIVED, "the run is known by its occurrence", "finish_turn before", "finish_turn after"),
    *ends(Kind.ARRIVED, _ARRIVED, "nothing had left", "send before"),
    *ends(Kind.ARRIVED, "reminded 2", _RESENT, "send after"),
    *ends(Kind.LINKED, _LINKED, "the phone tells it again", *around("take_linked_place"), struck=Struck.WEB),
    *ends(Kind.CLAIMED, _MARKED, "rated again, by the same rules", "judge before"),
    *ends(Kind.CLAIMED, _MARKED, "the journal says that it was asked again", "judge after", "judge unknown"),
    *ends(Kind.CLAIMED, _MARKED, _LEASE, "finish_turn before", "finish_turn after"),
)
BY_NAME = by_name(POINTS)

MUTATIONS: tuple[MessageMutation, ...] = (
    WordedMutation("receive_amendment", BY_NAME[Kind.LATER, "receive_amendment unknown"]),
    WordedMutation("receive_deletion", BY_NAME[Kind.GONE, "receive_deletion unknown"]),
    WordedMutation("receive_press", BY_NAME[Kind.REACTED, "receive_press unknown"]),
    WordedMutation("receive_reaction", BY_NAME[Kind.LIKED, "receive_reaction unknown"]),
    WordedMutation("note_brought", BY_NAME[Kind.ARRIVED, "note_brought unknown"]),
    WordedMutation("take_linked_place", BY_NAME[Kind.LINKED, "take_linked_place unknown"]),
)
"""Each removes the write of what the person did: nobody may take an answer to their provider for it."""
SHORT = some_of(
    BY_NAME,
    {
        Kind.SOONER: ("receive_amendment after",),
        Kind.MEANWHILE: ("steer after",),
        Kind.LATER: ("receive_amendment unknown",),
        Kind.VOIDED: ("receive_amendment before", "finish_turn before"),
        Kind.GONE: ("receive_deletion after",),
        Kind.THUMB: ("receive_press after",),
        Kind.REACTED: ("reacted_message after",),
        Kind.TAPBACK: ("receive_press before",),
        Kind.LIKED: ("receive_reaction after",),
        Kind.ARRIVED: ("note_brought after", "record_look after"),
        Kind.LINKED: ("take_linked_place after",),
        Kind.CLAIMED: ("judge before", "judge after"),
    },
)
