"""The invariants I1 to I12, from the journals and the database alone.

`python -m tests.faults.checker FOLDER DATABASE_URL` prints them for what a run left behind.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import asyncpg

from core.db.connector import connect
from core.json_types import JsonObject
from tests.faults.journals import read
from tests.faults.script import TOKEN
from tests.faults.sends import Arrival, Return, Send, arrivals, numbers, returns, sends

CANARY = "zqcanary"
"""Part of every secret of a run."""
_INBOUND = """
select split_part(i.text, ' ', 1) as token, i.provider_id, i.state, i.reason, i.turn_id, i.seq,
       c.id as conversation, c.channel,
       c.peer, t.state as turn_state, t.reason as turn_reason,
       exists (select 1 from outbound o where o.tenant_id = i.tenant_id and o.turn_id = i.turn_id) as owed
from inbound i join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
left join turns t on t.tenant_id = i.tenant_id and t.id = i.turn_id
where i.command is null order by c.id, i.seq
"""
_OUTBOUND = """
select o.text, o.seq, o.state, o.ambiguities, o.reason, c.id as conversation, c.channel, c.peer
from outbound o join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
where o.seq is not null order by c.id, o.seq
"""
_OVERLAPS = """
with lives as (
    select t.*, case when exists (select from outbound o where o.tenant_id = t.tenant_id and o.turn_id = t.id
                                  and o.created_at < t.tried_at) then t.tried_at else t.started_at end as began_at
    from turns t)
select count(*) from lives a join turns b on b.tenant_id = a.tenant_id and b.lane_id = a.lane_id
 and b.started_at > a.started_at and a.state <> 'waiting'
 and b.started_at < coalesce(a.finished_at, 'infinity'::timestamptz)
 and coalesce(b.finished_at, 'infinity'::timestamptz) > a.began_at
"""
"""Turns that ran at one time. What said something and then waited for an answer ran when it was taken up again."""
_APPROVALS = """
select count(*) filter (where state = 'approved' and decided_at > expires_at) as late,
       count(*) filter (where state = 'approved' and decided_by = '') as nobodys,
       count(*) filter (where state <> 'pending') as decided from approvals
"""
_FOREIGN = """
select (select count(*) from outbound o join turns t on t.id = o.turn_id where t.tenant_id <> o.tenant_id)
     + (select count(*) from inbound i join conversations c on c.id = i.conversation_id
        where c.tenant_id <> i.tenant_id)
     + (select count(*) from conversations c join identities n on n.id = c.identity_id
        where n.tenant_id <> c.tenant_id)
"""
_WORK = """
select extract(epoch from at)::float8 as at from (select started_at as at from turns
    union all select finished_at from steps union all select started_at from deliveries) work
where at is not null order by 1
"""
"""When work was done, by the database's clock, which is the machine's."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant: how much was looked at, how often it was broken, how often nobody can know, and examples."""

    name: str
    says: str
    looked: int
    broken: int
    unknown: int = 0
    examples: tuple[str, ...] = ()


@dataclass(slots=True)
class Evidence:
    """Everything that is looked at."""

    said: dict[str, JsonObject]
    arrivals: list[Arrival]
    sends: list[Send]
    effects: list[JsonObject]
    watch: list[JsonObject]
    logs: str
    returns: list[Return] = field(default_factory=list)
    inbound: list[Mapping[str, Any]] = field(default_factory=list)
    outbound: list[asyncpg.Record] = field(default_factory=list)
    overlaps: int = 0
    foreign: int = 0
    turns: int = 0
    approvals: dict[str, int] = field(default_factory=dict)
    unknown_steps: int = 0
    ambiguities: dict[str, int] = field(default_factory=dict)
    work: list[float] = field(default_factory=list)


def without(evidence: Evidence, tokens: set[str]) -> Evidence:
    """Leave out what belongs to texts that were spoilt on purpose."""
    return replace(
        evidence,
        said={token: send for token, send in evidence.said.items() if token not in tokens},
        arrivals=[arrival for arrival in evidence.arrivals if not tokens.intersection(arrival.tokens)],
        sends=[send for send in evidence.sends if not tokens.intersection(send.tokens)],
        effects=[effect for effect in evidence.effects if effect["token"] not in tokens],
        inbound=[row for row in evidence.inbound if row["token"] not in tokens],
    )


async def gather(folder: Path, database_url: str) -> Evidence:
    """Read the journals and the database."""
    phones = read(folder / "phones.jsonl")
    evidence = Evidence(
        said={str(phone["token"]): phone for phone in phones},
        arrivals=arrivals(folder / "providers.jsonl"),
        sends=sends(folder / "providers.jsonl"),
        effects=read(folder / "effects.jsonl"),
        watch=read(folder / "watch.jsonl"),
        returns=returns(folder / "providers.jsonl"),
        logs="".join(log.read_text(errors="replace") for log in sorted(folder.glob("w*.log"))),  # noqa: ASYNC240
    )
    connection = await connect(database_url, timeout=10)
    try:
        evidence.inbound = _named(await connection.fetch(_INBOUND), numbers(folder / "providers.jsonl"))
        evidence.outbound = await connection.fetch(_OUTBOUND)
        evidence.overlaps = await connection.fetchval(_OVERLAPS)
        evidence.foreign = await connection.fetchval(_FOREIGN)
        evidence.turns = await connection.fetchval("select count(*) from turns")
        evidence.approvals = dict(await connection.fetchrow(_APPROVALS) or {})
        evidence.work = [row["at"] for row in await connection.fetch(_WORK)]
        evidence.unknown_steps = await connection.fetchval("select count(*) from steps where outcome = 'unknown'")
    finally:
        await connection.close()
    for row in evidence.outbound:
        evidence.ambiguities[row["channel"]] = evidence.ambiguities.get(row["channel"], 0) + row["ambiguities"]
    return evidence


def _named(rows: Sequence[asyncpg.Record], tokens: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return the rows with their tokens: of who said STOP the text is not kept, but its provider knows what it was."""
    return [dict(row) | {"token": row["token"] or tokens.get(row["provider_id"], "")} for row in rows]


def check(evidence: Evidence, excused: frozenset[str] = frozenset()) -> list[Finding]:
    """Judge all twelve. `excused`: tokens that their provider no longer keeps, so that nobody could have them."""
    return [
        _kept(evidence, excused),
        _ended(evidence),
        _once(evidence),
        _in_order(evidence),
        Finding("I5", "a turn begins only when the one before it has ended", evidence.turns, evidence.overlaps),
        _approvals(evidence),
        _effects(evidence),
        _not_stuck(evidence),
        _silent(evidence),
        _patient(evidence),
        _apart(evidence),
        _discreet(evidence),
    ]


def show(findings: Sequence[Finding]) -> str:
    """Return a table as lines."""
    lines = [f"{'':<4}{'looked at':>10}{'broken':>8}{'unknown':>9}  what"]
    for finding in findings:
        lines.append(f"{finding.name:<4}{finding.looked:>10}{finding.broken:>8}{finding.unknown:>9}  {finding.says}")
        lines += [f"{'':<33}{example}" for example in finding.examples[:5]]
    return "\n".join(lines)


def _finding(name: str, says: str, looked: int, wrong: Sequence[str], unknown: int = 0) -> Finding:
    return Finding(name, says, looked, len(wrong), unknown, tuple(wrong[:5]))


def _kept(evidence: Evidence, excused: frozenset[str]) -> Finding:
    """I1: exactly one inbox row for each text; one that its provider could not hand over in time is excused."""
    rows = Counter(row["token"] for row in evidence.inbound)
    taken = {token for arrival in evidence.arrivals if 200 <= arrival.status < 300 for token in arrival.tokens}
    accepted_tokens = {token for token, send in evidence.said.items() if send.get("status") == 200}
    wrong = [f"{token}: {rows[token]} rows" for token in sorted(accepted_tokens - excused | taken) if rows[token] != 1]
    unsure = sum(1 for send in evidence.said.values() if send.get("event") == "saying")
    return _finding(
        "I1", "every text that was taken, or is still kept elsewhere, is one row", len(accepted_tokens), wrong, unsure
    )


def _ended(evidence: Evidence) -> Finding:
    """I2: each row ended, with a reply or a recorded reason; what was set aside is told apart as unknown."""
    wrong = [
        f"{row['token']}: {row['state']}, turn {row['turn_state']}"
        for row in evidence.inbound
        if row["state"] not in ("done", "ignored")
        or not (row["owed"] or row["reason"] or row["turn_reason"])
        or row["turn_state"] == "running"
    ]
    aside = sum(1 for row in evidence.inbound if row["turn_state"] in ("poison", "failed"))
    return _finding(
        "I2", "each ends in a reply or a recorded reason (unknown: set aside)", len(evidence.inbound), wrong, aside
    )


def _once(evidence: Evidence) -> Finding:
    """I3: no answer was accepted twice, but for rows whose attempts were journalled as ambiguous."""
    lost = {token for row in evidence.outbound if row["ambiguities"] for token in TOKEN.findall(row["text"])}
    accepted = Counter(_said(send, token) for send in evidence.sends if send.accepted for token in send.tokens)
    doubled = [key for key, count in accepted.items() if count > 1]
    wrong = [f"{key[0]}: {accepted[key]} times" for key in doubled if key[0] not in lost]
    return _finding(
        "I3",
        "nothing is sent twice (unknown: after a lost answer, journalled)",
        len(accepted),
        wrong,
        len(doubled) - len(wrong),
    )


def _said(send: Send, token: str) -> tuple[str, str]:
    """Name what a send says of a token: answers begin with one; a card and its outcome are two different messages."""
    return token, "" if TOKEN.match(send.text) else send.text


def _in_order(evidence: Evidence) -> Finding:
    """I4: what a person was shown first, of each text, comes in the order of the inbox."""
    shown: dict[tuple[str, str], list[str]] = {}
    for send in evidence.sends:
        if send.accepted:
            order = shown.setdefault((send.channel, send.peer), [])
            order += [token for token in send.tokens if token not in order]
    kept: dict[tuple[str, str], list[str]] = {}
    for row in evidence.inbound:
        kept.setdefault((row["channel"], row["peer"]), []).append(row["token"])
    wrong = []
    for key, tokens in kept.items():
        answered = set(shown.get(key, []))
        if shown.get(key, []) != [token for token in tokens if token in answered]:
            wrong.append(f"{key[0]} {key[1]}")
    return _finding("I4", "answers come in the order of the texts", len(kept), wrong)


def _approvals(evidence: Evidence) -> Finding:
    counts = evidence.approvals
    broken = counts.get("late", 0) + counts.get("nobodys", 0)
    return Finding(
        "I6", "an approval is decided once, by its person, before it expires", counts.get("decided", 0), broken
    )


def _effects(evidence: Evidence) -> Finding:
    """I7: a `once` effect at most once; an idempotent one always under one key for its call."""
    once = Counter(str(effect["token"]) for effect in evidence.effects if effect["kind"] == "once")
    keys: dict[str, set[str]] = {}
    for effect in evidence.effects:
        if effect["kind"] == "again":
            keys.setdefault(str(effect["token"]), set()).add(str(effect["key"]))
    wrong = [f"once {token}: {count} times" for token, count in once.items() if count > 1]
    wrong += [f"again {token}: {len(known)} keys" for token, known in keys.items() if len(known) > 1]
    return _finding(
        "I7",
        "a once effect is never doubled (unknown: told as such)",
        len(evidence.effects),
        wrong,
        evidence.unknown_steps,
    )


def _not_stuck(evidence: Evidence) -> Finding:
    wrong = [f"{sample['stuck']} at {sample['at']}" for sample in evidence.watch if sample["stuck"]]
    return _finding("I8", "nothing runs without a live lease for twice its length", len(evidence.watch), wrong)


def _silent(evidence: Evidence) -> Finding:
    """I9: nothing to a peer after its provider said that nothing may be sent any more, until the person returns."""
    ended: dict[tuple[str, str], float] = {}
    wrong, stops = [], 0
    returns = [((back.channel, back.peer), back.at) for back in evidence.returns]
    for send in evidence.sends:
        key = (send.channel, send.peer)
        if key in ended and any(who == key and ended[key] < at < send.at for who, at in returns):
            del ended[key]
        if key in ended and send.at > ended[key]:
            wrong.append(f"{send.channel} {send.peer}")
        elif send.final:
            ended[key], stops = send.at, stops + 1
    return _finding("I9", "nothing is sent after a stop", stops, wrong)


def _patient(evidence: Evidence) -> Finding:
    """I10: the same message not before its Retry-After is over."""
    until: dict[tuple[str, str], float] = {}
    wrong = []
    limited = 0
    for send in evidence.sends:
        key = (send.peer, send.text)
        if key in until and send.at < until[key] - 0.05:
            wrong.append(f"{send.channel} {send.peer}: {until[key] - send.at:.2f} s early")
        if send.retry_after:
            limited += 1
            until[key] = send.at + send.retry_after
    return _finding("I10", "nothing is sent before a Retry-After is over", limited, wrong)


def _apart(evidence: Evidence) -> Finding:
    """I11: who is told of a text is who wrote it, and every row hangs on rows of its own tenant."""
    home = {row["token"]: (row["channel"], row["peer"]) for row in evidence.inbound}
    wrong = [
        f"{token} told to {send.channel} {send.peer}"
        for send in evidence.sends
        for token in send.tokens
        if token in home and home[token] != (send.channel, send.peer)
    ]
    wrong += ["a row of another tenant"] * evidence.foreign
    return _finding("I11", "nobody is told what another wrote", len(evidence.sends), wrong)


def _discreet(evidence: Evidence) -> Finding:
    """I12: no text and no secret in any log."""
    wrong = sorted({*TOKEN.findall(evidence.logs)}) + [CANARY] * evidence.logs.count(CANARY)
    return _finding("I12", "no text and no secret is in a log", evidence.logs.count("\n"), wrong)


def main() -> None:
    """Print the table; exits 1 when one is broken."""
    findings = check(asyncio.run(gather(Path(sys.argv[1]), sys.argv[2])))
    sys.stdout.write(show(findings) + "\n")
    sys.exit(1 if any(finding.broken for finding in findings) else 0)


if __name__ == "__main__":
    main()
