from garden import beds
from onevalet import Addressee, FileResult, HttpResponse
from onevalet.testing import make_context


class Web:
    async def request(self, method: str, url: str, **more: object) -> HttpResponse:
        page = b"<title>Frost tonight</title><main><p>Cover the roses.</p></main>"
        return HttpResponse(200, {"Content-Type": "text/html"}, page, url)


class Post:
    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    async def find(self, channel: str, key: str) -> Addressee:
        return Addressee(channel, key, "Gil")

    async def send(self, to: Addressee, name: str, text: str, key: str) -> None:
        self.sent.append((to.key, text))


async def test_a_warning_is_read_and_sent_as_a_file() -> None:
    told = await beds.frost_warning("https://weather.example/frost", make_context(http=Web()))
    assert told == ["Frost tonight", FileResult("warning.txt", b"Cover the roses.")]


async def test_the_gardener_is_written_to() -> None:
    post = Post()
    assert await beds.ask_gardener("+441632960001", "Is it too dry?", make_context(messages=post)) == "Written to Gil."
    assert post.sent == [("+441632960001", "Is it too dry?")]
