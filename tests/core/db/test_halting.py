"""During a halt nothing is claimed: whatever takes a lease asks for it (tests/abilities/halts has each)."""

import re

from onevalet.migrating import all_functions

_TAKES = re.compile(r"create function (?:claim|take_due)_|create function \w+\([^$]*?\bp_(?:ttl|lease) interval")
_ASKS = re.compile(r"\b(?:is_halted|require_no_halt|claim_outbound|begin_delivery)\(")
_GOES_ON = {
    "claim_poll": "the way in stays open",
    "claim_catch_up": "the way in stays open",
    "keep_catch_up": "the way in stays open",
    "begin_backup": "copies everything, and changes nothing",
    "claim_since": "finds rows of a link, and claims no work",
    "claim_due_accounts": "a grant that is not renewed in time is lost",
    "begin_refresh": "a grant that is not renewed in time is lost",
    "renew_lane": "keeps what stops by itself, to hand it back",
    "keep_mail_watches": "keeps what was claimed before, which only reads",
    "extend_talk": "keeps what was claimed before, which only reads",
    "reap_lapsed": "frees what a dead process held",
}
"""What takes or keeps a lease during a halt, and why."""


def test_every_function_that_takes_a_lease_asks_for_a_halt() -> None:
    taking, asking = set[str](), set[str]()
    for name, text in (piece for file in all_functions() for piece in file.pieces()):
        if name and _TAKES.search(text):
            taking.add(name)
            asking |= {name} if _ASKS.search(text.partition("$$")[2]) else set()
    assert taking - asking == _GOES_ON.keys()
    assert {"claim_lane", "claim_outbound", "claim_redraw", "take_due_tasks", "claim_deletion"} <= asking
