"""The checker finds what it is there to find: each invariant, broken in evidence made by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest

from tests.faults.checker import CANARY, Evidence, check
from tests.faults.sends import Arrival, Return, Send, returns, sends

ONE, TWO = "m00001-p001", "m00002-p001"
_ROW = {
    "token": ONE, "state": "done", "reason": "", "turn_state": "done", "turn_reason": "", "owed": True, "seq": 1,
    "conversation": "cv", "channel": "sms", "peer": "+1",
}  # fmt: skip


def row(**changed: object) -> dict[str, Any]:
    return _ROW | changed


def send(at: float, *tokens: str, **changed: Any) -> Send:
    plain = Send(at, "sms", "+1", tokens, " ".join(tokens), 201, True, 0.0, False)
    return replace(plain, **changed)


def well() -> Evidence:
    """Two texts of one person, each kept, acted upon and answered once."""
    return Evidence(
        said={token: {"token": token, "status": 200, "event": "said"} for token in (ONE, TWO)},
        arrivals=[Arrival(1.0, "sms", (token,), 200, 5.0) for token in (ONE, TWO)],
        sends=[send(2.0, ONE), send(3.0, TWO)],
        effects=[{"kind": kind, "token": ONE, "key": "k1"} for kind in ("once", "again", "again")],
        watch=[{"at": 1, "stuck": 0}],
        logs="turn_finished turn=turn_1\n",
        inbound=[row(), row(token=TWO, seq=2)],
    )


BROKEN: dict[str, dict[str, object]] = {
    "I1": {"inbound": [row()]},
    "I1 twice": {"inbound": [row(), row(token=TWO, seq=2), row(token=TWO, seq=3)]},
    "I2": {"inbound": [row(), row(token=TWO, seq=2, state="taken", turn_state="running")]},
    "I2 silent": {"inbound": [row(), row(token=TWO, seq=2, owed=False)]},
    "I3": {"sends": [send(2.0, ONE), send(3.0, TWO), send(4.0, TWO)]},
    "I4": {"sends": [send(2.0, TWO), send(3.0, ONE)]},
    "I5": {"overlaps": 1},
    "I6": {"approvals": {"late": 1, "decided": 1}},
    "I7": {"effects": [{"kind": "once", "token": ONE, "key": "k1"}] * 2},
    "I7 keys": {"effects": [{"kind": "again", "token": ONE, "key": key} for key in ("k1", "k2")]},
    "I8": {"watch": [{"at": 1, "stuck": 2}]},
    "I9": {"sends": [send(2.0, ONE, accepted=False, final=True), send(3.0, TWO)]},
    "I10": {"sends": [send(2.0, ONE, status=429, accepted=False, retry_after=2.0), send(3.0, ONE), send(9.0, TWO)]},
    "I11": {"sends": [send(2.0, ONE, peer="+2"), send(3.0, TWO)]},
    "I12": {"logs": f"oops {ONE}\n"},
    "I12 secret": {"logs": f"key={CANARY}\n"},
}


def broken(evidence: Evidence) -> list[str]:
    return [finding.name for finding in check(evidence) if finding.broken]


def test_nothing_is_broken_where_all_is_well() -> None:
    assert broken(well()) == []


@pytest.mark.parametrize("case", BROKEN)
def test_each_invariant_is_found_broken(case: str) -> None:
    assert case.split()[0] in broken(replace(well(), **cast(dict[str, Any], BROKEN[case])))


def test_a_double_send_after_a_journalled_lost_answer_counts_as_unknown() -> None:
    outbound = [cast(asyncpg.Record, {"text": f"{TWO} acted", "ambiguities": 1})]
    evidence = replace(well(), sends=[send(2.0, ONE), send(3.0, TWO), send(4.0, TWO)], outbound=outbound)
    assert broken(evidence) == []
    assert next(finding.unknown for finding in check(evidence) if finding.name == "I3") == 1


def test_a_card_and_its_outcome_are_two_messages_and_a_repeat_is_excess() -> None:
    card, outcome = send(3.0, TWO, text=f"3A: act (token: {TWO})"), send(4.0, TWO, text=f"Approved 3A: act ({TWO}).")
    assert broken(replace(well(), sends=[send(2.0, ONE), card, outcome])) == []
    assert broken(replace(well(), sends=[send(2.0, ONE), card, outcome, outcome])) == ["I3"]


@pytest.mark.parametrize(("at", "peer", "found"), [(2.5, "+1", []), (1.5, "+1", ["I9"]), (2.5, "+2", ["I9"])])
def test_who_returned_after_a_stop_is_written_to_again(at: float, peer: str, found: list[str]) -> None:
    sent = [send(1.0, ONE), send(2.0, accepted=False, final=True), send(3.0, TWO)]
    assert broken(replace(well(), sends=sent, returns=[Return(at, "sms", peer)])) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"From": "+1", "Body": "START"}, [Return(1.0, "sms", "+1")]),
        ({"From": "+1", "Body": "STOP"}, []),
        (
            {"my_chat_member": {"chat": {"id": 7}, "new_chat_member": {"status": "member"}}},
            [Return(1.0, "telegram", "7")],
        ),
        ({"my_chat_member": {"chat": {"id": 7}, "new_chat_member": {"status": "kicked"}}}, []),
    ],
)
def test_a_return_is_read_from_what_a_person_does(tmp_path: Path, body: dict[str, object], found: list[Return]) -> None:
    journal = tmp_path / "providers.jsonl"
    journal.write_text(json.dumps({"direction": "in", "at": 1, "request": {"body": body}}) + "\n")
    assert returns(journal) == found


def test_what_its_provider_no_longer_keeps_is_excused() -> None:
    evidence = replace(well(), inbound=[row()], arrivals=[], sends=[send(2.0, ONE)])
    assert [finding.name for finding in check(evidence, frozenset({TWO})) if finding.broken] == []


@pytest.mark.parametrize(
    ("status", "body", "final"),
    [(201, {"sid": "SM108a8380ed4802e21610be"}, False), (400, {"code": 21610, "status": 400}, True)],
)
def test_an_error_is_read_from_a_refusal_and_not_from_an_id(
    tmp_path: Path, status: int, body: dict[str, object], final: bool
) -> None:
    call = {"endpoint": "twilio.messages.create", "direction": "out", "provider": "twilio", "at": 1, "duration_ms": 1}
    answer = {"status": status, "body": body}
    request = {"body": {"To": "+1", "Body": "hello"}}
    journal = tmp_path / "providers.jsonl"
    journal.write_text(json.dumps({**call, "status": status, "request": request, "answer": answer}) + "\n")
    assert [send.final for send in sends(journal)] == [final]
