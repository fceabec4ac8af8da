"""A page of the web as text, for readers and watches of pages."""

from dataclasses import dataclass
from typing import Protocol

from core.http.types import HttpResponse
from core.json_types import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text. `url` is its final address, `date` an ISO day; unknown values are empty.

    `price` is the price that the page marks, or the only amount in it, however often; `prices` lists all amounts of its
    text.
    """

    url: str
    text: str
    title: str = ""
    date: str = ""
    canonical: str = ""
    description: str = ""
    needs_script: bool = False
    needs_login: bool = False
    price: float | None = None
    currency: str = ""
    prices: tuple[JsonObject, ...] = ()
    cut: bool = False
    """There was more than is fetched, or read."""

    def to_json(self) -> JsonObject:
        """Return the values that a watch may look into."""
        prices: list[Json] = list(self.prices)
        return {
            "title": self.title,
            "date": self.date,
            "address": self.url,
            "price": self.price,
            "currency": self.currency,
            "prices": prices,
            "text": self.text,
        }


class PageReader(Protocol):
    """A reader of pages, which an ability brings."""

    async def __call__(self, response: HttpResponse) -> Page:
        """Return the text of a response. Raises `core.errors.ToolFailed` in a plain sentence."""
        ...
