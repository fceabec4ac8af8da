"""Pages with one example each: it is written to its file, imported, and does what its page says."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from onevalet import (
    Decision,
    HookContext,
    HttpResponse,
    ModelAnswer,
    ModelLayer,
    ModelRequest,
    Momex,
    MomexConfig,
    OneValet,
    Orchestrator,
    PlannedCall,
    ToolExecutionContext,
    ToolFailed,
    add_person,
)
from onevalet.testing import make_context
from tests.core.harness import opened
from tests.documents.blocks import write_files
from tests.eventually import eventually
from tests.onevalet.pages import page_folder as page_folder

type Load = Callable[[str, str], ModuleType]


@pytest.fixture
def load(page_folder: Path) -> Load:
    """Return what writes a page's examples, and imports one of them."""

    def load(page: str, module: str) -> ModuleType:
        write_files(f"docs/{page}.md", page_folder)
        return import_module(module)

    return load


class Web:
    """A mail service: it takes what has the right token."""

    def __init__(self) -> None:
        self.sent: list[object] = []

    async def request(self, method: str, url: str, *, headers: dict[str, str], json: object) -> HttpResponse:
        if headers["Authorization"] != "Bearer t":
            return HttpResponse(401, {}, b"", url)
        self.sent.append(json)
        return HttpResponse(200, {}, b"", url)


async def test_a_tool_sends_by_the_account_of_its_person(load: Load) -> None:
    send = load("credentials", "post.sending").send_email
    web = Web()
    context = make_context(http=web)
    assert await send("sam@example.com", "Hi", "Late", context) == "No Google account is connected."
    await context.credentials.save(context.tenant_id, "google", {"token": "t"}, "work")
    assert await send("sam@example.com", "Hi", "Late", context) == "Sent to sam@example.com."
    assert web.sent == [{"to": "sam@example.com", "subject": "Hi", "text": "Late"}]
    await context.credentials.save(context.tenant_id, "google", {"token": "old"}, "work")
    with pytest.raises(ToolFailed, match="did not take it"):
        await send("sam@example.com", "Hi", "Late", context)


async def test_a_handler_is_told_of_an_event(load: Load, tmp_path: Path, database_url: str, redis_url: str) -> None:
    bells = load("events", "house.bells")
    settings = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "ONEVALET_HOME": str(tmp_path / "home")}
    async with OneValet({**settings, "ONEVALET_MEMORY": "off"}) as valet:
        ann = await valet.tenant_id("ann")
        await bells.listen(valet.events)
        await bells.ring(valet.events, ann)
        await eventually(lambda: bells.rung, "the bell")
    assert list(bells.rung.values()) == ["front"]


class Silent:
    """A model that has nothing to say."""

    layers = (ModelLayer("silent"),)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(text="All is well.")

    async def close(self) -> None: ...


async def test_an_application_remembers_and_is_answered(
    load: Load, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    koi = load("memory", "koi.memory")
    monkeypatch.setenv("DATABASE_URL", database_url)
    assert isinstance(koi.make_koi(Silent()), Orchestrator)
    config = MomexConfig.from_env({"ONEVALET_MEMORY": "rules"})
    async with opened(database_url) as store:
        momex = Momex(config=config, database=store.database)
        found, answer, kept = await koi.remember(momex, await add_person(store.database, "Ann"))
        await momex.close()
    assert "Lisbon" in found
    assert "Lisbon" in answer
    assert kept == "I live in Lisbon."


@pytest.mark.parametrize(("hour", "decision"), [(6, Decision.DENY), (7, Decision.ALLOW), (22, Decision.DENY)])
async def test_a_rule_knows_the_hour(
    load: Load, monkeypatch: pytest.MonkeyPatch, hour: int, decision: Decision
) -> None:
    night = load("rules", "house.vacuum")
    monkeypatch.setattr(night.NotAtNight, "hour", lambda _: hour)
    context = HookContext("turn", "ann", "sms")
    for name, expected in (("start_vacuum", decision), ("current_time", Decision.ALLOW)):
        verdict = await night.not_at_night.evaluate(context, PlannedCall("1", name, {}))
        assert verdict.decision is expected


async def test_what_a_tool_did_is_taken_back(load: Load) -> None:
    heating = load("undo", "house.heating")
    context = make_context()
    assert await heating.set_heating("kitchen", 22, context) == "The kitchen is set to 22 degrees."
    await heating.set_heating("kitchen", 22, context)  # once more, as after a crash
    offer, again = _offers(context)
    assert offer == again
    assert await heating.set_back(**offer) == "The kitchen is back at 19 degrees."
    heating.rooms["kitchen"] = 25
    with pytest.raises(ToolFailed, match="set again since"):
        await heating.set_back(**offer)


async def test_what_cannot_be_taken_back_says_so(load: Load) -> None:
    printing = load("undo", "house.printing")
    context = make_context()
    assert await printing.print_label("Flour", context) == "Printed Flour."
    assert "stays printed" in str(context.undo.offered)


def _offers(context: ToolExecutionContext) -> list[dict[str, object]]:
    return [dict(offer.arguments) for offer in context.undo.offered]
