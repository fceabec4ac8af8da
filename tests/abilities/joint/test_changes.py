"""What happens to people while they are asked together: halts, quiet hours, links and their end, deletion, STOP."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta

import pytest

from abilities.halts.halts import Halts
from abilities.household.merge import HouseholdMerge
from abilities.joint.deciders import quiet_end
from core.approvals.store import ApprovalMerge
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.json_types import JsonObject
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from core.people.tenant_tables import tenant_tables
from tests.abilities.joint.together import MAIL, Together, open_together
from tests.contract.conftest import mail_servers as mail_servers
from tests.contract.conftest import mail_world as mail_world
from tests.core.builders import says

ONCE = [MAIL]
ENDS: tuple[set[str], list[JsonObject]] = ({"ended"}, [])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each case where there are no buttons, where there are, and by mail."""
    if "home" in metafunc.fixturenames:
        metafunc.parametrize("channel", ["sms", "telegram", "email"])


@pytest.fixture
async def home(channel: str, database_url: str) -> AsyncIterator[Together]:
    """Yield the assistant of Ada and Grace, who may link their places."""
    async with open_together(channel, database_url) as system:
        with_links(system)
        yield system


def with_links(home: Together) -> None:
    """Let people link their places."""
    store = home.delivery.store
    credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", b"k" * 32)]))
    hooks = (ApprovalMerge(home.clock), HouseholdMerge())
    linking = Linking(store.database, credentials, store.make_id, hooks=hooks)
    home.people = PersonCommands(linking, People(store.database, store.make_id, home.clock))


async def link(home: Together, giver: str, other: str) -> str:
    """Let two people become one; return what the other read."""
    found = re.search(r"LINK (\w{3}-\w{3}-\w{3})", await home.ask("/link", giver))
    assert found is not None
    home.clock.move(timedelta(seconds=1))
    await home.ask(f"LINK {found[1]}", other)
    return await home.ask(f"LINK {found[1]} AGREE", other)


async def all_say_yes(home: Together, *people: str) -> None:
    """Let people write every code that there ever was, and what approves all."""
    codes = [str(code) for code in await home.delivery.store.column("select distinct code from approvals order by 1")]
    for person in people:
        home.model.script = [says("What?")] * 8
        for code in codes:
            await home.ask(f"OK {code}", person)
        await home.ask("OK ALL", person)


async def ends(home: Together) -> tuple[set[str], list[dict[str, str]]]:
    """Return the states of all joint consents, and what was sent."""
    return {state for state, _ in await home.joint()}, home.sent


@pytest.mark.parametrize("first", ["ada", "grace"])
async def test_promise_9_in_a_halt_both_may_decide_and_it_runs_once_after_it(home: Together, first: str) -> None:
    await home.both()
    halts = Halts(home.delivery.store.database)
    await halts.begin()
    for person in (first, "grace" if first == "ada" else "ada"):
        await home.yes(person)
    assert home.sent == []
    await halts.lift()
    await home.work()
    assert home.sent == ONCE
    assert await ends(home) == ({"ended"}, ONCE)


async def test_promise_9_a_halt_between_the_two_yeses_ends_nothing(home: Together) -> None:
    await home.both()
    await home.yes("grace")
    halts = Halts(home.delivery.store.database)
    await halts.begin()
    home.clock.move(timedelta(minutes=5))
    await home.work()
    await halts.lift()
    await home.yes("ada")
    assert home.sent == ONCE


@pytest.mark.parametrize("said_yes", [(), ("ada",), ("grace",)])
@pytest.mark.parametrize(("giver", "other"), [("ada", "grace"), ("grace", "ada")])
async def test_promise_9_two_who_become_one_cannot_consent_for_both(
    home: Together, giver: str, other: str, said_yes: tuple[str, ...]
) -> None:
    await home.both(says("That needs two of you."), says("That needs two of you."))
    for person in said_yes:
        await home.yes(person)
    await link(home, giver, other)
    assert await home.delivery.store.one("select count(*) from identities i join tenants using (tenant_id)") == 3
    await all_say_yes(home, "ada", "grace")
    assert await ends(home) == ENDS


async def test_promise_9_when_the_other_becomes_a_third_nobody_decides_for_them(home: Together) -> None:
    await home.both(says("Ask again."), says("Ask again."))
    await home.yes("ada")
    before = home.count("ada")
    await link(home, "grace", "lena")  # who writes the code stays
    await all_say_yes(home, "lena", "grace")
    assert await ends(home) == ENDS
    assert home.heard("ada", before) != ""


async def test_promise_9_the_other_decides_from_a_place_linked_meanwhile(home: Together) -> None:
    await home.both()
    await home.yes("ada")
    await link(home, "lena", "grace")
    assert await home.approvals_of("lena") == []
    await home.ask(f"OK {await home.code_of('grace')}", "lena")
    assert home.sent == ONCE


@pytest.mark.parametrize("asked_at", ["grace", "lena"])
async def test_promise_9_who_parts_from_the_other_does_not_decide_for_them(home: Together, asked_at: str) -> None:
    await link(home, "lena", "grace")
    home.clock.move(timedelta(seconds=5))
    home.model.script = [says("Hello.")]
    await home.ask("hello", asked_at)  # where the card then comes
    await home.both(says("Grace has unlinked a place."))
    code = await home.code_of("grace")
    before, of_grace = home.count("ada"), home.count("grace")
    await home.ask("UNLINK", "lena")
    assert "has linked or unlinked a place meanwhile" in str(home.model.told()[-1])
    assert "Grace has unlinked a place." in home.heard("ada", before)
    home.model.script = [says("Hm.")] * 3
    for person in ("lena", "grace"):
        await home.ask(f"OK {code}", person)
    await home.yes("ada")
    assert await ends(home) == ENDS
    told = home.heard("grace", of_grace)
    # Lena's Telegram speaks German.
    assert ("is over" in told or "ist vorbei" in told) == (asked_at == "grace")


@pytest.mark.parametrize("said_yes", ["ada", "grace"])
async def test_who_asked_and_is_deleted_ends_it(home: Together, said_yes: str) -> None:
    await home.both()
    await home.yes(said_yes)
    store, ada = home.delivery.store, home.tenants["ada"]
    await home.ask("household make grace owner")
    await store.database.rows("select ask_deletion($1,'person',$2,$2)", ada, home.clock.now())
    await store.database.rows("select delete_tenant($1,$2)", ada, [*reversed(tenant_tables())])
    await home.work()
    assert await home.joint() == []
    await home.yes("grace")
    assert home.sent == []


async def test_who_asked_and_writes_stop_ends_it_and_the_other_is_told(home: Together) -> None:
    await home.both()
    await home.yes("grace")
    before = home.count("grace")
    await home.delivery.store.admin.execute(
        "update identities set state = 'stopped' where tenant_id = $1", home.tenants["ada"]
    )
    await home.work()
    assert "is over" in home.heard("grace", before)
    assert await home.joint() == [("ended", "asker_away")]
    assert home.sent == []


async def quiet(home: Together) -> None:
    """Let it be three in the night for Grace, and for her alone."""
    night = {"quiet_from": "22:00", "quiet_until": "07:00", "timezone": "UTC"}
    await home.delivery.store.db.tenants.change(night, tenant_id=home.tenants["grace"])
    home.clock.at = datetime.combine(home.clock.now().date() + timedelta(days=1), time(3), UTC)


async def test_the_other_is_asked_when_their_quiet_hours_end(home: Together) -> None:
    await quiet(home)
    before, of_ada = home.count("grace"), home.count("ada")
    await home.both()
    assert "I will ask Grace when their quiet hours end." in home.heard("ada", of_ada)
    await home.yes("ada")
    home.clock.move(timedelta(hours=3, minutes=59))
    await home.work()
    assert home.heard("grace", before) == ""
    assert [state for state, _ in await home.joint()] == ["asking"]
    home.clock.move(timedelta(minutes=1))
    await home.work()
    assert "Ada asks whether you agree" in home.heard("grace", before)
    # The usual time is left.
    home.clock.move(timedelta(minutes=25))
    await home.yes("grace")
    assert home.sent == ONCE


@pytest.mark.parametrize("how", ["no", "leave"])
async def test_what_ends_while_the_other_sleeps_is_never_asked(home: Together, how: str) -> None:
    await quiet(home)
    before = home.count("grace")
    await home.both(says("It is off."))
    if how == "no":
        await home.no("ada")
    else:
        await home.delivery.store.admin.execute(
            "delete from household_members where tenant_id = $1", home.tenants["grace"]
        )
    home.clock.move(timedelta(hours=5))
    await home.work()
    assert home.heard("grace", before) == ""
    assert await ends(home) == ENDS


def test_quiet_hours_end_by_the_clock_of_who_has_them() -> None:
    night = {"quiet_from": "22:00", "quiet_until": "07:00", "timezone": "America/New_York"}
    at = datetime(2026, 3, 8, 5, tzinfo=UTC)  # midnight there, and the clocks go forward
    assert quiet_end(night, at) == datetime(2026, 3, 8, 11, tzinfo=UTC)
    assert quiet_end(night, at + timedelta(hours=7)) is None
    assert quiet_end(night | {"quiet_from": "", "quiet_until": ""}, at) is None
