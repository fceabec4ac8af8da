"""`doctor` has the model answer one word."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.messaging.channels import Check
from onevalet.settings import Settings, load_settings
from operations.doctor.models import check_model
from tests.scripted_model import Reply, ScriptedModel, cut, error, hang, text

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    # litellm 1.106 looks through an answer in a way that pydantic will drop.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@asynccontextmanager
async def model(monkeypatch: pytest.MonkeyPatch, reply: Reply) -> AsyncIterator[Settings]:
    """Serve one answer of a model, and yield settings that name it."""
    async with ScriptedModel([reply]) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
        yield load_settings(onevalet_model="openai/scripted")


async def test_a_model_that_answers_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model(monkeypatch, text("ready")) as settings:
        assert await check_model(settings, 150) == [Check("model", True, "openai/scripted answers")]


@pytest.mark.parametrize(
    ("reply", "detail", "fix"),
    [
        (
            error(401, message="Wrong key: sk-canary-2b7e"),
            "the provider refuses the key",
            "ONEVALET_MODEL_KEYS",
        ),
        (error(429, code="insufficient_quota"), "its account is used up", "top up"),
        (error(429), "the provider limits us now", "wait"),
        (error(400), "the provider refuses a plain question", "for chat"),
        (error(503), "does not answer", "OPENAI_API_BASE"),
        (cut(), "does not answer", "OPENAI_API_BASE"),
    ],
    ids=["key", "quota", "limit", "rejected", "away", "cut"],
)
async def test_a_model_that_fails_is_not_ok_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, reply: Reply, detail: str, fix: str
) -> None:
    async with model(monkeypatch, reply) as settings:
        [check] = await check_model(settings, 150)
    assert not check.ok
    assert detail in check.detail
    assert fix in check.fix
    assert "canary" not in check.detail + check.fix


async def test_a_model_that_hangs_is_not_ok_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model(monkeypatch, hang(3600)) as settings:
        [check] = await check_model(settings, 1)
    assert (check.ok, check.detail) == (False, "openai/scripted: no answer within 1 s")


async def test_a_model_of_no_provider_and_the_demo_model_are_told_apart() -> None:
    [check] = await check_model(load_settings(onevalet_model="nosuchmodel"))
    assert (check.ok, "litellm knows no provider of nosuchmodel" in check.fix) == (False, True)
    [check] = await check_model(load_settings())
    assert (check.ok, check.detail) == (True, "the demo model")


@pytest.mark.parametrize("refused", [False, True])
async def test_the_embedding_model_is_asked_where_one_is_named(monkeypatch: pytest.MonkeyPatch, refused: bool) -> None:
    async with ScriptedModel([text("ready")], dimensions=8) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
        named = load_settings(onevalet_model="openai/scripted", onevalet_embedding_model="openai/embedder")
        server.embeddings = error(401, message="Wrong key: sk-canary-2b7e") if refused else None
        model, embedding = await check_model(named, 150)
    assert model.ok
    assert server.embedded == [["ready"]]
    if not refused:
        assert embedding == Check("embedding", True, "openai/embedder answers, with 8 dimensions")
        return
    assert (embedding.what, embedding.ok) == ("embedding", False)
    assert embedding.detail.startswith("openai/embedder: the provider refuses the key")
    assert "canary" not in embedding.detail + embedding.fix
