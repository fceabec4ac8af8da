"""One conversation for each kind of file on each channel, with a model on the wire: what it is sent, what is read."""

import base64
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from abilities.files.vision import Vision
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.documents import samples
from tests.contract.canaries import marked
from tests.contract.harness import exempt
from tests.contract.person_files import Sender, open_sender
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text, text_of

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PIN = (
    b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Eiffel Tower\r\n"
    b"item1.URL;type=pref:https://maps.apple.com/?ll=48.858370\\,2.294480\r\nitem1.X-ABLabel:map url\r\nEND:VCARD\r\n"
)
"""A place as an iPhone sends it by MMS, named `CL.loc.vcf`."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A file that is no picture, and lines of what the model is sent about it."""

    data: Callable[[], bytes]
    name: str
    content_type: str
    lines: tuple[str, ...]


DOCUMENTS = {
    "docx": Sent(
        lambda: samples.docx("The lease", "Rent: 900", "\f", "The deposit is returned."),
        *("lease.docx", WORD),
        ("a document of 2 pages", "> --- Page 1 ---\n> The lease\n> Rent: 900", "> --- Page 2 ---\n> The deposit"),
    ),
    "xlsx": Sent(
        lambda: samples.xlsx([["Item", "Day"], ["Rent", 46023.0]]),
        *("costs.xlsx", EXCEL),
        ("a document of 1 page", "> Sheet: Costs\n> Item | Day\n> Rent | 2026-01-01"),
    ),
    "csv": Sent(lambda: b"Item,Price\nTea,3\n", "tea.csv", "text/csv", ("a text of 1 page", "> Item,Price\n> Tea,3")),
    "vcard": Sent(lambda: PIN, "CL.loc.vcf", "text/x-vcard", ("> Fn: Eiffel Tower", "?ll=48.858370,2.294480")),
}


@dataclass(slots=True)
class Conversation:
    """A person who sends files, and a model over HTTP."""

    sender: Sender
    model: ScriptedModel
    client: LiteLLMClient

    async def about(self, data: bytes, name: str, content_type: str, script: Callable[[ModelCall], Reply]) -> str:
        """Let the person send a file with a question; return what they read."""
        await self.sender.sends(data, name, content_type, text=marked("What is it?"), work=False)
        return await self.answered(script)

    async def answered(self, script: Callable[[ModelCall], Reply]) -> str:
        """Let the worker do what is to be done; return what the person reads."""
        seen = len(self.sender.system.delivery.channel.bubbles())
        self.model.script, self.sender.system.model = script, self.client
        self.sender.system.options["files"] = self.sender.files()
        await self.sender.system.work()
        return "\n".join(bubble.text for bubble in self.sender.system.delivery.channel.bubbles()[seen:])


@pytest.fixture
async def conversation(
    channel: str, database_url: str, tmp_path: Path, model: ScriptedModel
) -> AsyncIterator[Conversation]:
    client = LiteLLMClient("openai/scripted", vision_model="openai/scripted")
    await client.warm_up()
    async with open_sender(channel, database_url, tmp_path / "files") as sender:
        sender.vision = Vision(client.sees)
        yield Conversation(sender, model, client)
    await client.close()


def file_of(call: ModelCall) -> str:
    """Return the message about the newest file, as the model was sent it."""
    return [words for words in map(text_of, call.messages) if "sent a file: f" in words][-1]


def pictures_of(call: ModelCall) -> list[bytes]:
    """Return the pictures of a request."""
    told = [message["content"] for message in call.messages]
    parts: list[Any] = [part for content in told if isinstance(content, list) for part in content]
    urls = [str(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.removeprefix("data:image/jpeg;base64,")) for url in urls]


async def test_a_photo_and_a_heic_are_seen(conversation: Conversation) -> None:
    read: list[str] = []
    for data, name, kind in (
        (samples.sideways(), "IMG_1.jpg", "image/jpeg"),
        (samples.heic(), "IMG_2.HEIC", "image/heic"),
    ):
        read.append(await conversation.about(data, name, kind, lambda call: text(f"I see {len(pictures_of(call))}.")))
    assert read == ["I see 1."] * 2, "a picture is shown in its own turn"
    sizes = []
    for call in conversation.model.calls:
        (data,) = pictures_of(call)
        with Image.open(BytesIO(data)) as image:
            assert (image.format, dict(image.getexif())) == ("JPEG", {})
            sizes.append(image.size)
    assert sizes == [(48, 64), (64, 48)], "the first one lay on its side"


async def test_a_pdf_of_80_pages_is_searched_and_read_on(conversation: Conversation) -> None:
    pages = [f"Page {number} of the lease. " + "Words. " * 60 for number in range(1, 81)]
    pages[59] += "The deposit is nine hundred."

    def script(call: ModelCall) -> Reply:
        file = file_of(call).split("sent a file: ")[1][:11]
        results = list(call.tool_results.values())
        if not results:
            return calls(("search_file", {"file": file, "words": "deposit"}))
        if len(results) == 1:
            return calls(("read_file", {"file": file, "page": 60}))
        return text("Nine hundred, on page 60." if "Page 60 of the lease" in results[1] else "It does not say.")

    assert await conversation.about(samples.pdf(pages), "lease.pdf", "application/pdf", script) == (
        "Nine hundred, on page 60."
    )
    shown = file_of(conversation.model.calls[0])
    assert "a PDF of 80 pages" in shown
    assert "> --- Page 12 ---" in shown
    assert "Page 60" not in shown, "bounded"
    assert len(shown) < 8000
    found, on = conversation.model.calls[2].tool_results.values()
    assert "Page 60: " in found
    assert "Pages 60 to 80 of 80." in on


async def test_documents_are_shown_as_text(conversation: Conversation) -> None:
    for kind, sent in DOCUMENTS.items():
        answer = text(f"It is {kind}.")
        read = await conversation.about(sent.data(), sent.name, sent.content_type, partial(_always, answer))
        assert read == f"It is {kind}."
        shown = file_of(conversation.model.calls[-1])
        for line in sent.lines:
            assert line in shown, kind
    assert len(conversation.model.calls) == len(DOCUMENTS), "none of them asks for a tool"


def _always(answer: Reply, _: ModelCall) -> Reply:
    return answer


@exempt(sms="phones send a place as a contact, which is above", slack="Slack has no places")
async def test_a_place_is_sent_with_its_name_as_words_of_others(conversation: Conversation) -> None:
    channel = conversation.sender.system.delivery.channel
    place = {"latitude": "48.85837", "longitude": "2.29448", "title": "Eiffel Tower", "address": "5 Av. A. France"}
    await channel.act("location", **place)
    await channel.settled()
    assert await conversation.answered(lambda _: text("In Paris.")) == "In Paris."
    assert "📍" in conversation.model.calls[0].new_user_texts
    assert any("> Eiffel Tower" in text for text in conversation.model.calls[0].new_user_texts)
