"""Address books as other servers than Radicale answer: other escapes, answers that are too large, foreign addresses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

import pytest

from abilities.dav.address_books import AddressBooks
from abilities.dav.types import Changed, Collection
from core.http.types import HttpResponse
from tests.servers.radicale import Radicale

BOOK = Collection("https://dav.example/ann%40example.org/people/", "People")
PATH = "/ann@example.org/people/"
CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:one\r\nFN:Sam\r\nN:Sam;;;;\r\nEND:VCARD\r\n"


@dataclass(slots=True)
class Server:
    """Answers with cards by href; more than `most` of them are too large an answer."""

    cards: Mapping[str, str]
    most: int = 1000
    asked: list[int] = field(default_factory=list)

    async def request(self, method: str, url: str, *, body: bytes | None = None, **_: Any) -> HttpResponse:
        wanted = re.findall(r"<d:href>([^<]*)</d:href>", (body or b"").decode()) or [*self.cards]
        self.asked.append(len(wanted))
        found = "".join(
            f"<d:response><d:href>{escape(href)}</d:href><d:propstat><d:prop><d:getetag>1</d:getetag>"
            f"<c:address-data>{escape(text)}</c:address-data></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>"
            "</d:response>"
            for href, text in self.cards.items()
            if method == "PROPFIND" or href.replace("@", "%40") in wanted
        )
        xml = f'<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:carddav">{found}</d:multistatus>'
        return HttpResponse(207, {}, xml.encode(), url, cut=method == "REPORT" and len(wanted) > self.most)


def books(server: Server, radicale: Radicale) -> AddressBooks:
    return AddressBooks(server, radicale.account())


async def test_cards_are_known_under_other_escapes_too(radicale: Radicale) -> None:
    server = Server({f"{PATH}a.vcf": "A", f"{PATH}b.vcf": "B", PATH: "the book itself"})
    etags = await books(server, radicale).etags(BOOK)
    assert [*etags] == [f"https://dav.example{PATH}{name}.vcf" for name in "ab"]
    urls = [f"{BOOK.url}a.vcf", f"{BOOK.url}gone.vcf"]
    assert await books(server, radicale).read(BOOK, urls) == {urls[0]: "A", urls[1]: ""}


async def test_an_answer_that_is_too_large_is_asked_for_in_parts(radicale: Radicale) -> None:
    server = Server({f"{PATH}{at}.vcf": str(at) for at in range(40)}, most=10)
    wanted, found = [f"{BOOK.url}{at}.vcf" for at in range(40)], dict[str, str]()
    while rest := [url for url in wanted if url not in found]:
        found |= await books(server, radicale).read(BOOK, rest)
    assert [*found.values()] == [str(at) for at in range(40)]
    server.most = 0
    assert await books(server, radicale).read(BOOK, wanted) == {wanted[0]: ""}, "one that is too large by itself"


@pytest.mark.parametrize("href", ["https://evil.example/ann@example.org/people/a.vcf", "/bob/people/a.vcf", "../x.vcf"])
async def test_a_card_elsewhere_is_none_of_the_book(href: str, radicale: Radicale) -> None:
    assert await books(Server({href: "A"}), radicale).etags(BOOK) == {}


async def test_a_card_is_written_once_and_never_over_another(http: Any, radicale: Radicale) -> None:
    url = radicale.make_address_book("ann", "People")
    ann = AddressBooks(http, radicale.account())
    first, second = await ann.create(url, "one", CARD), await ann.create(url, "one", CARD)
    assert (first.url, first.etag) == (second.url, second.etag)
    assert len(radicale.texts(url)) == 1
    radicale.put("ann", first.url, CARD.replace("Sam", "Samuel"), "text/vcard")
    with pytest.raises(Changed):
        await ann.replace(first, CARD)
    with pytest.raises(Changed):
        await ann.delete(first.url, first.etag)
    [book] = (await ann.look_up()).collections
    assert book.ctag
    assert await ann.replace(await ann.get(first.url), CARD.replace("Sam", "Sammy"))
    [later] = (await ann.look_up(f"{radicale.url}ann/")).collections
    assert later.ctag != book.ctag
