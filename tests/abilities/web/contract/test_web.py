"""The web over each channel, by a model on the wire: links that are pasted, searches, and what cannot be read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from aiohttp import web

from abilities.web.reading import read_page
from abilities.web.searching import web_search
from core.http.guarded_client import GuardedClient, Limits
from core.json_types import JsonObject
from core.loop.outside import words_of_others
from providers.models.litellm_client import LiteLLMClient
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from tests.servers.site import KEY, Site, open_site

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    # litellm 1.106 looks through an answer in a way that pydantic will drop.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

_STORY = "".join(f"<p>Paragraph {number} of a story that goes on.</p>" for number in range(600))
ARTICLE = f"""<title>{marked("The ferry")}</title><meta property="article:published_time" content="2026-10-01">
<article><h1>The ferry</h1>{_STORY}</article>"""


def repeats(call: ModelCall) -> Reply:
    """Answer with what the last tool told."""
    return text(words_of_others(list(call.tool_results.values())[-1]))


@dataclass(slots=True)
class Reader:
    """A person's system with a model on the wire, and a site that the client may reach."""

    system: Approving
    site: Site
    model: ScriptedModel

    async def hears(self, words: str, *replies: Reply, person: str = "ada") -> str:
        """Let a person write while the model gives these replies, then repeats; return what they then read."""
        seen = len(self.system.delivery.channel.bubbles(person))
        self.model.add(*replies)
        await self.system.say(marked(words), person)
        assert self.model.waiting == 0, "the model was asked for all of it"
        return "\n".join(bubble.text for bubble in self.system.delivery.channel.bubbles(person)[seen:])

    async def reads(self, path: str, person: str = "ada") -> str:
        """Let a person paste a link that the model reads; return what they then read."""
        url = f"{self.site.url}{path}"
        return await self.hears(f"What does {url} say?", calls(("read_page", {"url": url})), person=person)

    def told(self) -> str:
        """Return what the model was told last by a tool."""
        return list(self.model.calls[-1].tool_results.values())[-1]


@pytest.fixture
async def reader(channel: str, database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Reader]:
    """Yield it on an empty database."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel(repeats))
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-zqcanary-model-key")
        client = LiteLLMClient("openai/scripted")
        await client.warm_up()
        stack.push_async_callback(client.close)
        site = await stack.enter_async_context(open_site())
        http = GuardedClient(allowed_hosts=[site.host])
        stack.push_async_callback(http.close)
        system = await stack.enter_async_context(open_approving(HARNESSES[channel], database_url, StandingClock()))
        system.model, system.options = client, {"http": http}
        system.more += [read_page, web_search]
        yield Reader(system, site, model)


async def test_a_pasted_link_is_read_with_title_day_and_in_parts(reader: Reader) -> None:
    reader.site.pages["/a"] = ARTICLE
    url = f"{reader.site.url}/a"
    steps = calls(("read_page", {"url": url})), calls(("read_page", {"url": url, "part": 3}))
    read = await reader.hears(f"How does {url} end?", *steps, text(f"It goes on, see {url}."))
    assert read == f"It goes on, see {url}.", "the link was named, so it stays"
    first, last = reader.model.calls[-1].tool_results.values()
    for part in (f"Title: {marked('The ferry')}", "Published: 2026-10-01", "This is part 1 of 3.", "Paragraph 5 of"):
        assert f"> {part}" in first
    assert first.startswith("[What follows was written by others.")
    assert "Paragraph 599 of" in last
    assert reader.site.asked == ["/a"], "the second part came from memory"


async def test_what_cannot_be_read_is_told_in_a_sentence(reader: Reader) -> None:
    reader.site.pages |= {
        "/script": '<script src="app.js"></script><div id="root"></div>',
        "/login": '<title>Sign in</title><form><input type="password"></form>',
        "/closed": web.Response(status=401),
        "/robots": web.Response(status=503, headers={"cf-mitigated": "challenge"}),
        "/broken": web.Response(status=500),
        "/inside": web.Response(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"}),
        "/round": lambda: _redirect("/round"),
        "/photo": web.Response(body=b"\xff\xd8", content_type="image/jpeg"),
        "/empty": "<html></html>",
        "/garbled": web.Response(body=b"no gzip", headers={"Content-Encoding": "gzip"}),
    }
    sentences = {
        "/script": "That page shows nothing without JavaScript, which I do not run.",
        "/login": "That page asks for a login, so I cannot read it.",
        "/closed": "That page requires a login, or does not admit programs.",
        "/robots": "That page requires a login, or does not admit programs.",
        "/missing": "There is no such page.",
        "/broken": "The page's server answered with the status 500.",
        "/inside": "That address is not on the public internet.",
        "/round": "That address redirects too often.",
        "/photo": "That page cannot be read: it is image/jpeg.",
        "/empty": "There is no text on that page.",
        "/garbled": "The server's answer cannot be read.",
    }
    for path, sentence in sentences.items():
        assert await reader.reads(path) == sentence
    for url in ("http://127.0.0.1:9/", "http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/", "http://localhost/"):
        read = await reader.hears(f"Read {url}", calls(("read_page", {"url": url})))
        assert read in (
            "That address is not on the public internet.",
            "Only the usual ports of the web can be reached.",
        )


async def test_a_page_that_never_comes_is_given_up(reader: Reader) -> None:
    async def never() -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    reader.site.pages["/never"] = never
    hurried = GuardedClient(allowed_hosts=[reader.site.host], limits=Limits(silence=0.2))
    reader.system.options["http"] = hurried
    assert await reader.reads("/never") == "The server took too long."
    assert reader.site.asked == ["/never"]
    await hurried.close()


async def test_a_page_that_is_too_large_is_read_as_far_as_it_goes(reader: Reader) -> None:
    reader.site.kind = "text/plain"
    reader.site.pages["/large"] = "It begins. " + "and so on " * 300_000
    await reader.reads("/large")
    assert "> Only its beginning was fetched: the page is too large." in reader.told()
    assert "It begins." in reader.told()


async def _redirect(where: str) -> web.Response:
    return web.Response(status=302, headers={"Location": where})


async def test_two_people_never_share_a_page(reader: Reader) -> None:
    async def counting() -> web.StreamResponse:
        return web.Response(text=f"<p>For visitor {len(reader.site.asked)}.</p>", content_type="text/html")

    reader.site.pages["/mine"] = counting
    assert "For visitor 1." in await reader.reads("/mine")
    assert "For visitor 2." in await reader.reads("/mine", person="grace")
    for person, number in (("ada", 1), ("grace", 2)):
        assert f"For visitor {number}." in await reader.reads("/mine", person=person)
    assert reader.site.asked == ["/mine", "/mine"]


async def test_the_web_is_searched_by_each_service_and_failures_are_told(reader: Reader) -> None:
    reader.site.found = [{"url": "https://ferry.example/plan", "title": "The ferry", "content": "Leaves at nine"}]
    await reader.hears("hello", text("Hello."))
    assert "web_search" not in reader.model.calls[-1].tools, "no service was set"
    wanted = calls(("web_search", {"query": "ferry times"}))
    for service in ("searxng", "brave", "tavily"):
        settings: JsonObject = {"search": service, "search_key": KEY, "search_url": reader.site.url}
        reader.system.options["settings"] = settings
        read = await reader.hears("When?", wanted, text("At nine: https://ferry.example/plan"))
        assert read == "At nine: https://ferry.example/plan", service
        assert "> https://ferry.example/plan" in reader.told()
        assert "> Leaves at nine" in reader.told()
        for status, sentence in (
            (403, "The search service refuses me: my operator has to check its settings."),
            (429, "The search service does not work at the moment (status 429)."),
        ):
            reader.site.failing = status
            assert await reader.hears("When?", wanted) == sentence, service
        reader.site.failing = 0
    assert reader.site.queries == ["ferry times"] * 3
    reader.site.found = []
    assert await reader.hears("When?", wanted) == "Nothing was found."
    reader.system.options["settings"] = settings | {"search_url": "http://127.0.0.1:9"}
    assert await reader.hears("When?", wanted) == "Only the usual ports of the web can be reached."
