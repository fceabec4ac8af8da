"""T2: a process dies, or loses an answer, at each named point; what is expected of each stands in `points`."""

import asyncio
import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from tests.abilities.documents.sounds import ogg
from tests.faults.accounts.points import AccountMutation, AccountPoint
from tests.faults.accounts.run import account_points
from tests.faults.agreed import agree, count_uses
from tests.faults.database import execute, read_rows
from tests.faults.harness import Harness
from tests.faults.journals import append, read
from tests.faults.leases import HOLD, RELEASE
from tests.faults.meeting import MET_WITHIN, has_met, strike_at, until_met
from tests.faults.messages.points import MessageMutation, MessagePoint
from tests.faults.messages.run import message_points
from tests.faults.phone_driver import PROVIDERS, Saying
from tests.faults.points import BY_NAME, MUTATIONS, Expected, Mutation, Point
from tests.faults.results import Result, conclude, settle, timed
from tests.faults.script import ACT, AGREED, UPLOAD, answer
from tests.faults.sends import downloads, sends, uploads
from tests.scripted_model import error
from tests.scripted_transcription import ScriptedTranscription, heard

SPOKEN = "and this is what was said"
HANGS = 2.0
"""Seconds that a provider which is to be killed at keeps its answer back."""
SENDS = {"sms": "twilio.messages.create", "slack": "slack.chat.postMessage", "telegram": "telegram.sendMessage"}
FILES = {"sms": "twilio.media.fetch", "slack": "slack.files", "telegram": "telegram.file"}
_FILE = """
select f.id, f.state, i.media -> 0 ->> 'url' as url from inbound i
join inbound_files n on n.tenant_id = i.tenant_id and n.inbound_id = i.id
join files f on f.tenant_id = n.tenant_id
where i.text = $1 and f.state = 'kept'
"""
"""The files that a text's person has, and where the text's own one is fetched."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One text of one person whose process is struck at a point, perhaps with a write removed."""

    name: str
    token: str
    person: str
    channel: str
    point: Point
    drop: str = ""

    @property
    def said(self) -> Saying:
        """Return the text as others have it."""
        acts = AGREED if self.point.has_consent else ACT
        word = f" {UPLOAD}" if self.point.has_upload else "" if self.point.has_file else f" {acts}"
        body = f"{self.token}{word}"
        return Saying(0.0, self.token, self.person, self.channel, body)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of it."""

    plan: Plan
    met: bool
    answers: int
    once: int
    again: int
    keys: int
    models: int
    told: str
    ambiguous: int
    downloads: int
    kept: int
    uploads: int
    transcripts: int
    uses: int
    heard: bool
    """Whether the words of its voice note, if it has one, stand with the text."""

    def misses(self, expected: Expected) -> list[str]:
        """Name what is not as expected."""
        bounds = {
            "answers": (self.answers, expected.answers),
            "once": (self.once, expected.once),
            "again": (self.again, expected.again),
            "models": (self.models, expected.models),
            "ambiguous": (self.ambiguous, expected.ambiguous),
            "downloads": (self.downloads, expected.downloads),
            "kept": (self.kept, expected.kept),
            "uploads": (self.uploads, expected.uploads),
            "transcripts": (self.transcripts, expected.transcripts),
            "uses": (self.uses, expected.uses),
        }
        wrong = [name for name, (count, (low, high)) in bounds.items() if not low <= count <= high]
        wrong += ["told"] if self.told not in expected.told else []
        wrong += ["keys"] if self.keys > 1 else []
        wrong += ["heard"] if not self.heard else []
        return wrong + ([] if self.met else ["met"])


async def crash_points(
    harness: Harness,
    *,
    points: Sequence[Point],
    channels: Sequence[str],
    mutations: Sequence[Mutation] = MUTATIONS,
    of_accounts: tuple[Sequence[AccountPoint], Sequence[AccountMutation]] = ((), ()),
    of_messages: tuple[Sequence[MessagePoint], Sequence[MessageMutation]] = ((), ()),
) -> Result:
    """T2: every point on every channel, and each removed write, which must be noticed.

    `of_accounts`: points with people's accounts, where the channel does not matter, and their removed writes;
    `of_messages`: those of what people do besides writing, each on a channel that has it.
    """
    result = Result("T2", "processes die or lose an answer at named points", "each outcome as written down")
    plans = _plans(harness, points, channels, mutations)
    async with ScriptedTranscription(hears=lambda _: heard(SPOKEN)) as server, timed(result):
        listening = {"ONEVALET_TRANSCRIPTION_MODEL": "openai/whisper-1", "ONEVALET_TRANSCRIPTION_URL": server.url}
        for worker in harness.workers:
            await worker.end()
        for plan in plans:
            await _strike(harness, plan, listening if plan.point.has_voice else {})
        await execute(harness, RELEASE)
        for worker in harness.workers:
            worker.start(**(listening if any(plan.point.has_voice for plan in plans) else {}))
        await harness.until_kept({plan.token for plan in plans if plan.drop != "receive_messages"}, 60)
        await settle(harness, result)
        fates = [await _fate(harness, plan, server) for plan in plans]
        _judge(result, fates)
        others = harness.people[len(plans) :]
        if of_messages[0]:
            number = len(of_messages[0]) + len(of_messages[1])
            harness.spoilt |= await message_points(
                harness, result, others[:number], points=of_messages[0], mutations=of_messages[1]
            )
            others = others[number:]
        if of_accounts[0]:
            harness.spoilt |= await account_points(
                harness, result, others, points=of_accounts[0], mutations=of_accounts[1]
            )
        await _no_orphans(harness, result)
        harness.spoilt |= {plan.token for plan in plans if plan.drop}
        evidence = await conclude(harness, [plan.said for plan in plans if not plan.drop], result)
        result.numbers["once effects of unknown end, told so"] = str(evidence.unknown_steps)
    return result


def _plans(
    harness: Harness, points: Sequence[Point], channels: Sequence[str], mutations: Sequence[Mutation]
) -> list[Plan]:
    wanted = [(point, channel, "") for point in points for channel in channels]
    wanted += [(BY_NAME[mutation.point], mutation.channel, mutation.drop) for mutation in mutations]
    plans: list[Plan] = []
    for number, (point, channel, drop) in enumerate(wanted):
        person = harness.people[number]
        token = harness.token(person.key)
        plans.append(Plan(f"plan-{token}", token, person.key, channel, point, drop))
    return plans


async def _strike(harness: Harness, plan: Plan, settings: dict[str, str]) -> None:
    """Let the person write, and let a process with these settings meet its point with it."""
    struck = settings | strike_at(plan.point.name, plan.name, plan.drop)
    web = harness.webs[0]
    if plan.point.process == "web":
        await web.end()
        web.start(**struck)
        await harness.until_ready(web)
    if plan.point.fault:
        endpoint = FILES[plan.channel] if plan.point.has_file else SENDS[plan.channel]
        await harness.fault(endpoint=endpoint, kind=plan.point.fault, times=1, seconds=HANGS)
    action, words = _said(plan)
    await harness.act(plan.person, PROVIDERS[plan.channel], action, **words)
    append(harness.folder / "phones.jsonl", event="said", status=200, token=plan.token, person=plan.person)
    if plan.point.process == "web":
        await until_met(harness, plan.point.name, plan.name, web)
        await asyncio.sleep(0.2)
        await web.end()
        web.start()
        await harness.until_ready(web)
        if plan.drop != "receive_messages":
            # What the provider brings again is not to meet the next plan's point.
            await harness.until_kept({plan.token}, MET_WITHIN)
    else:
        await harness.until_kept({plan.token}, 20)
        if plan.point.has_consent:
            await agree(harness, plan.said.body)
        worker = harness.workers[0]
        with _model_down(harness, plan) if plan.point.model_is_down else nullcontext():
            worker.start(**struck)
            await until_met(harness, plan.point.name, plan.name, worker)
            await worker.end()
    await harness.no_faults()
    await execute(harness, HOLD)


def _said(plan: Plan) -> tuple[str, dict[str, object]]:
    """Return what the person does at their provider: write, or send a file with the words."""
    body = plan.said.body
    if not plan.point.has_file:
        return "say", {"text": body}
    if plan.point.has_voice:
        return _spoken(plan, body, base64.b64encode(ogg(words=plan.token.encode())).decode())
    data = base64.b64encode(f"Nothing but the letter of {plan.person}.".encode()).decode()
    if plan.channel == "sms":
        return "say", {"text": body, "media": [{"content_type": "text/plain", "data": data}]}
    if plan.channel == "slack":
        return "say", {"text": body, "files": [{"name": "letter.txt", "content": f"base64:{data}"}]}
    return "document", {"caption": body, "name": "letter.txt", "content_type": "text/plain", "data": data}


def _spoken(plan: Plan, body: str, data: str) -> tuple[str, dict[str, object]]:
    """Return how a voice note is sent with the words."""
    if plan.channel == "sms":
        return "say", {"text": body, "media": [{"content_type": "audio/ogg", "data": data}]}
    if plan.channel == "slack":
        return "say", {"text": body, "files": [{"name": "note.ogg", "content": f"base64:{data}", "clip": "audio"}]}
    return "voice", {"caption": body, "data": data}


@contextmanager
def _model_down(harness: Harness, plan: Plan) -> Iterator[None]:
    """Let the model fail for this text."""
    model = harness.model
    well = model.script
    model.script = lambda call: error(503) if plan.token in str(call.messages) else answer(call)
    yield
    model.script = well


async def _fate(harness: Harness, plan: Plan, server: ScriptedTranscription) -> Fate:
    effects = [effect for effect in read(harness.folder / "effects.jsonl") if effect["token"] == plan.token]
    kinds, journal = Counter(str(effect["kind"]) for effect in effects), harness.folder / "providers.jsonl"
    answers = [send for send in sends(journal) if send.accepted and plan.token in send.tokens]
    words = {word for answer in answers for word in ("acted", "unsure") if f"{plan.token} {word}" in answer.text}
    connection = await harness.connect()
    try:
        ambiguous = await connection.fetchval(
            "select coalesce(sum(ambiguities), 0) from outbound where text like $1", f"%{plan.token}%"
        )
        files = await connection.fetch(_FILE, plan.token)
        uses = await count_uses(connection, plan.said.body)
        spoken = await connection.fetchval("select heard from inbound where text = $1", plan.said.body)
    finally:
        await connection.close()
    return Fate(
        plan=plan,
        met=has_met(harness, plan.name),
        answers=len(answers),
        once=kinds["once"],
        again=kinds["again"],
        keys=len({effect["key"] for effect in effects if effect["kind"] == "again"}),
        # Whoever else asks a model of the same text, for a memory say, offers it no tools.
        models=sum(plan.token in str(call.messages) for call in harness.model.calls if call.tools),
        told=" ".join(sorted(words)),
        ambiguous=int(ambiguous),
        downloads=downloads(harness.folder / "providers.jsonl", plan.channel, _address(str(files[0]["url"])))
        if files
        else 0,
        kept=len({file["id"] for file in files}),
        uploads=uploads(journal, plan.token),
        transcripts=sum(plan.token.encode() in call.body for call in server.calls),
        uses=uses,
        heard=(spoken or "") == (SPOKEN if plan.point.has_voice else ""),
    )


def _address(url: str) -> str:
    """Return what a file's address ends in, which its download's does too."""
    return url.removesuffix("/download").rpartition("/")[2].rpartition(":")[2]


async def _no_orphans(harness: Harness, result: Result) -> None:
    """Require that each file that lies in the folder has its row, and each row its file."""
    named = {row["key"] for row in await read_rows(harness, "select key from files where state = 'kept'")}
    folder = harness.folder / "files"
    stored = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    result.numbers["files stored"] = str(len(stored))
    result.require(stored == named, f"orphans {sorted(stored - named)[:3]}, lost {sorted(named - stored)[:3]}")


def _judge(result: Result, fates: Sequence[Fate]) -> None:
    missed_points = 0
    unnoticed = 0
    for fate in fates:
        wrong = fate.misses(fate.plan.point.on(fate.plan.channel))
        if not fate.plan.drop and wrong:
            missed_points += 1
            result.missed.append(f"{fate.plan.point.name} on {fate.plan.channel}: {', '.join(wrong)} ({_short(fate)})")
        if fate.plan.drop:
            wanted = next(mutation.missed for mutation in MUTATIONS if mutation.drop == fate.plan.drop)
            if wanted not in wrong:
                unnoticed += 1
                result.missed.append(f"without {fate.plan.drop} nobody noticed ({_short(fate)})")
    points = [fate for fate in fates if not fate.plan.drop]
    result.numbers |= {
        "points met": f"{len(points) - missed_points} of {len(points)}",
        "removed writes noticed": f"{len(fates) - len(points) - unnoticed} of {len(fates) - len(points)}",
        "ambiguous": str(sum(fate.ambiguous for fate in points)),
    }


def _short(fate: Fate) -> str:
    return (
        f"met {fate.met}, answers {fate.answers}, once {fate.once}, again {fate.again} under {fate.keys} keys,"
        f" model {fate.models}, told {fate.told or 'nothing'}, ambiguous {fate.ambiguous},"
        f" downloads {fate.downloads}, files kept {fate.kept}, uploads {fate.uploads},"
        f" transcripts {fate.transcripts}, heard {fate.heard}"
    )
