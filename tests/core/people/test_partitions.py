"""In partition 7 whatever leaves it names the partition; what was handed out before there were any still counts."""

import asyncpg
import pytest

from abilities.accounts.links import ConnectLinkStore
from abilities.events.source_types import Style
from abilities.events.sources import EventSources
from core.approvals.exact_replies import Verb, button, read_button
from core.files.links import FileLinks
from core.ids import for_person, make_id, new_token, partition_of
from core.messaging.chat_reader import chat_words
from core.people.link_codes import new_link_code, shown_code
from operations.console.sign_in import ConsoleSignIn
from operations.tenants.links import ExportLinks
from tests.core.credentials.harness import KEYS
from tests.core.harness import Store
from tests.core.people.harness import CHAT, NOON, Harness

ANN, ANN_CHAT, URL = "+15550000001", "8100", "https://valet.example"


@pytest.fixture
async def harness(store: Store) -> Harness:
    await store.admin.execute("select set_partition(7)")
    return Harness(store)


async def test_a_person_and_what_leads_to_them_name_the_partition(harness: Harness) -> None:
    await harness.ask("hello", ANN)
    ann, database = await harness.tenant(ANN), harness.store.database
    assert partition_of(ann) == "07."
    sources = EventSources(database, harness.credentials, make_id)
    source, secret = await sources.add(ann, "door", Style.BEARER)
    sign_in, exports, links = (
        ConsoleSignIn(database, URL, KEYS),
        ExportLinks(database, URL, KEYS),
        ConnectLinkStore(database, URL, KEYS),
    )
    signed = await sign_in.link(ann, NOON)
    made = [signed, await exports.link(ann, NOON), await links.make(ann, None, NOON)]
    ends = [str(link).rpartition("/")[2] for link in made]
    assert {end[:3] for end in (source.id, secret, *ends)} == {"07."}
    session = await sign_in.begin(ends[0], NOON)
    assert session is not None
    assert session.startswith("07.")
    assert await sources.find(source.id) is not None
    assert await exports.find(ends[1], NOON) is not None
    assert await links.read(ends[2], NOON) is not None


async def test_two_who_link_their_places_stay_in_the_partition(harness: Harness) -> None:
    store = harness.store
    told = await harness.ask("/link", ANN_CHAT, CHAT)
    code = told.partition("LINK ")[2].split()[0]
    assert code.startswith("07-")
    await harness.settle()
    assert code in await harness.ask(f"LINK {code}", ANN)
    assert (await harness.ask(f"LINK {code} AGREE", ANN)).startswith("Linked")
    await store.db.links.delete()
    await harness.settle()
    await harness.ask("UNLINK", ANN)
    people = await store.db.tenants.column("tenant_id")
    assert len(people) == 2
    assert {partition_of(str(person)) for person in people} == {"07."}


async def test_nobody_is_stored_where_their_id_does_not_lead(harness: Harness) -> None:
    admin = harness.store.admin
    for stranger in ("tn_old", "08.tn_other"):
        with pytest.raises(asyncpg.CheckViolationError):
            await admin.execute("insert into tenants (tenant_id) values ($1)", stranger)
    await harness.say("hello", ANN)
    with pytest.raises(asyncpg.RaiseError):
        await admin.execute("select set_partition(8)")


@pytest.mark.parametrize("tenant", ["tn_01", "07.tn_01"])
def test_tokens_with_and_without_a_partition_are_read(tenant: str) -> None:
    token = for_person(tenant, new_token())
    assert read_button(button(Verb.APPROVE, token)) == (Verb.APPROVE, token)
    links = FileLinks([b"k" * 32], URL)
    end = links.make(tenant, "f0123456789", NOON).rpartition("/")[2]
    linked = links.read(end, NOON)
    assert linked is not None
    assert (linked.tenant_id, partition_of(end)) == (tenant, partition_of(tenant))
    code = shown_code(new_link_code(partition_of(tenant)))
    for typed in (code, code.replace("-", " ").lower(), code.replace("-", "")):
        command = chat_words().read(f"link {typed}", "sms")
        assert command is not None
        assert command.argument == typed


def test_words_behind_a_number_are_no_link_code() -> None:
    assert chat_words().read("link 12 old new now", "sms") is None
