"""The address books of an account: their cards, and safe changes to cards."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

from abilities.dav.client import DavClient
from abilities.dav.discovery import collections_in, discover
from abilities.dav.types import Changed, Collection, DavRefused, Home, Kind, Resource, TooLarge
from abilities.dav.xml import CARDDAV, DAV, element, prop
from core.credentials.types import OpenAccount
from core.http.peer import Allowance
from core.http.types import HttpClient

_VCARD = "text/vcard"
_ETAG = f"{DAV}getetag"
_TYPE = f"{DAV}resourcetype"
_DATA = f"{CARDDAV}address-data"
_BATCH = 50
"""Cards requested at once."""
_OPERATION = Allowance(size=128 * 1024 * 1024, pieces=1000, seconds=90.0)
"""Limit of the servers' answers in a call of a tool. Some send the pictures anyway; only a batch is held in memory."""
_NAMES = ("VERSION", "UID", "KIND", "X-ADDRESSBOOKSERVER-KIND", "FN", "N", "NICKNAME", "ORG", "BDAY")
_READ = (*_NAMES, "TEL", "EMAIL", "IMPP", "X-SOCIALPROFILE")
"""The requested properties of each card: no pictures, if the server can leave them out."""


class AddressBooks:
    """The address books of an account. Each call raises `ToolFailed`, and `DavRefused` if the server refuses."""

    def __init__(self, http: HttpClient, account: OpenAccount) -> None:
        self._client = DavClient(http, account, _OPERATION)

    async def look_up(self, known_home: str = "") -> Home:
        """Return the address books. `known_home`: their last known home, which saves the discovery."""
        if known_home:
            try:
                if found := await collections_in(self._client, Kind.ADDRESS_BOOK, known_home):
                    return Home(tuple(found), known_home)
            except DavRefused as error:
                if error.refused is not None:
                    raise
        return await discover(self._client, Kind.ADDRESS_BOOK)

    async def etags(self, book: Collection) -> Mapping[str, str]:
        """Return the address of each card in a book, with the etag of its state."""
        answered = await self._client.propfind(book.url, (_ETAG, _TYPE), depth=1)
        return {
            url: found.text(_ETAG)
            for found in answered.found
            if found.status == 200
            and f"{DAV}collection" not in found.children(_TYPE)
            and _is_in(url := answered.address(found.href), book)
        }

    async def read(self, book: Collection, urls: Sequence[str]) -> Mapping[str, str]:
        """Return the text of the first cards at some addresses of a book, as many as are requested at once.

        It is empty for a card that is gone or too large.
        """
        wanted = list(urls[:_BATCH])
        try:
            answered = await self._client.report(book.url, _multiget(wanted))
        except TooLarge:
            if len(wanted) == 1:
                return {wanted[0]: ""}
            return await self.read(book, wanted[: len(wanted) // 2])
        # Servers write the same address with other escapes.
        texts = {unquote(urlsplit(answered.address(one.href)).path): one.text(_DATA) for one in answered.found}
        return {url: texts.get(unquote(urlsplit(url).path), "") for url in wanted}

    async def get(self, url: str) -> Resource:
        """Return a whole card; raises `Missing`."""
        return await self._client.get(url)

    async def create(self, book: str, uid: str, text: str) -> Resource:
        """Write a new card into the book at an address, under a UID; a repeat finds it written."""
        url = f"{book}{uid}.vcf"
        try:
            etag = await self._client.create(url, text, _VCARD)
        except Changed:
            # It is ours: the address follows from the call, so that only a repeat of it finds something there.
            return await self.get(url)
        return Resource(url, etag, text) if etag else await self.get(url)

    async def replace(self, card: Resource, text: str) -> Resource:
        """Overwrite a card as it was read; raises `Changed` if it has changed since."""
        etag = await self._client.replace(card, text, _VCARD)
        return Resource(card.url, etag, text) if etag else await self.get(card.url)

    async def delete(self, url: str, etag: str) -> None:
        """Delete a card as it was read; a missing card stays missing. Raises `Changed`."""
        await self._client.delete(Resource(url, etag))


def _multiget(urls: Sequence[str]) -> Element:
    data = element(_DATA, *(element(f"{CARDDAV}prop", name=name) for name in _READ))
    wanted = prop([_ETAG])
    wanted.append(data)
    hrefs = (element(f"{DAV}href", urlsplit(url).path) for url in urls)
    return element(f"{CARDDAV}addressbook-multiget", wanted, *hrefs)


def _is_in(url: str, book: Collection) -> bool:
    """Return whether an address lies in a book: a server may name any, and our secret goes there."""
    one, whole = urlsplit(url), urlsplit(book.url)
    folder = unquote(whole.path)
    return one[:2] == whole[:2] and unquote(one.path).startswith(folder) and unquote(one.path) != folder
