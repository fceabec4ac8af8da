"""A simulated person as the assistant knows them: addresses, memory, tasks, waiting entries, quiet hours, spending."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from core.clock import zone_or_utc
from core.db.database import Database
from core.errors import RequestRefused
from core.ids import make_id
from core.json_types import Json, JsonObject, objects_in
from core.people.access_policy import Admission, PersonRole
from core.people.pairing import Pairings, PairOutcome
from core.people.preferences import PreferenceStore
from onevalet.ability_registry import all_abilities
from onevalet.cli.pair import sentence_of
from operations.console.access import Scope, Viewer
from operations.console.reading.people import read_person
from operations.console.reading.waiting import WaitingKind, list_waiting
from operations.programs.tokens import Client
from operations.programs.types import Nothing

_SHOWN = 8
"""Memories and tasks that are shown, the newest and the next."""
_MEMORIES = "select number, text from memories where tenant_id = $1 and not held order by number desc limit $2"

type Address = tuple[str, str, str]
"""A channel, its account, and the person's key there."""


async def who_is(database: Database, addresses: Sequence[Address], now: datetime) -> JsonObject:
    """Return the data of a person, by their first known address; `known` is false for a stranger."""
    for address in addresses:
        row = await database.call("select * from find_identity($1,$2,$3)", *address)
        if row is not None and row["tenant_id"]:
            person = await read_person(_scope(database, row["tenant_id"]), row["tenant_id"])
            if person is not None and any(place.admitted for place in person.identities):
                return await _known(database, row["tenant_id"], now)
    return {"known": False}


async def admitted_as(database: Database, address: Address) -> PersonRole | None:
    """Return the role of a person admitted at an address by a code or the operator; None for any other."""
    row = await database.call("select * from find_identity($1,$2,$3)", *address)
    person = (
        await read_person(_scope(database, row["tenant_id"]), row["tenant_id"])
        if row is not None and row["tenant_id"]
        else None
    )
    if person is None:
        return None
    at = [place.admitted for place in person.identities if (place.channel, place.account, place.user_key) == address]
    return person.role if {Admission.PAIRING, Admission.OPERATOR} & set(at) else None


async def let_in(database: Database, wanted: JsonObject, now: datetime) -> JsonObject:
    """Redeem the code of a stranger as `pair` does; return {"told"}, a sentence. Raises `RequestRefused`."""
    code, role = wanted.get("code"), wanted.get("role", PersonRole.MEMBER.value)
    if not isinstance(code, str) or role not in {PersonRole.MEMBER, PersonRole.GUEST}:
        raise RequestRefused('Say the "code", and as "role" member or guest.')
    admitted = PersonRole(str(role))
    pairing = await Pairings(database, make_id).redeem(code, admitted, now)
    told = sentence_of(pairing, admitted)
    if pairing.outcome is not PairOutcome.PAIRED:
        raise RequestRefused(told)
    return {"told": told}


async def _known(database: Database, tenant_id: str, now: datetime) -> JsonObject:
    scope = _scope(database, tenant_id)
    person = await read_person(scope, tenant_id)
    prefers = await PreferenceStore(database).read(tenant_id)
    zone = zone_or_utc(prefers.timezone)
    memories = await database.tenant_rows(tenant_id, _MEMORIES, _SHOWN)
    waiting = await list_waiting(scope)
    return {
        "known": True,
        "id": tenant_id,
        "name": person.name if person else "",
        "role": person.role.value if person else "",
        "timezone": prefers.timezone or "",
        "quiet": f"{prefers.quiet.start:%H:%M} to {prefers.quiet.end:%H:%M}" if prefers.quiet else "",
        "muted": list(prefers.muted),
        "places": [
            {"channel": place.channel, "address": place.user_key, "state": place.state.value}
            for place in (person.identities if person else ())
        ],
        "memories": [{"number": row["number"], "text": row["text"]} for row in memories],
        "tasks": await _planned(database, tenant_id, zone),
        "waiting": [
            {"code": row.code, "name": row.text or row.name, "channel": row.channel, "until": _at(row.until, zone)}
            for row in waiting
            if row.kind is WaitingKind.APPROVAL
        ],
        "spent": await _spent(database, tenant_id, now.astimezone(zone)),
    }


def _scope(database: Database, tenant_id: str) -> Scope:
    return Scope(Viewer(tenant_id, operator=False), database)


async def _planned(database: Database, tenant_id: str, zone: ZoneInfo) -> list[Json]:
    """Return the next tasks, as a person's programs see them; empty if no ability has tasks."""
    made = (ability.client_tools(database) for ability in all_abilities() if ability.client_tools is not None)
    for tool in (tool for tools in made for tool in tools if tool.name == "list_tasks"):
        told = (await tool.run(Client(tenant_id, "", "", 0), Nothing())).data["tasks"]
        rows = objects_in(told)
        rows.sort(key=lambda row: str(row["next"] or "later than any"))
        return [
            {
                "number": row["number"],
                "name": row["title"],
                "when": row["when"],
                "next": _at(datetime.fromisoformat(str(row["next"])) if row["next"] else None, zone),
                "standing": row["state"],
            }
            for row in rows[:_SHOWN]
        ]
    return []


async def _spent(database: Database, tenant_id: str, now: datetime) -> str:
    rows = await database.tenant_rows(
        tenant_id,
        "select coalesce(sum(spent), 0) as spent from spending where tenant_id = $1 and day = $2 and task_id = ''",
        now.date(),
    )
    return f"{rows[0]['spent']:.4f}"


def _at(moment: datetime | None, zone: ZoneInfo) -> str:
    return moment.astimezone(zone).strftime("%a %d %b, %H:%M") if moment else ""
