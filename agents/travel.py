"""Search flights with Duffel (duffel.com/docs/api); nothing is booked.

The operator sets ONEVALET_FLIGHTS_KEY, an access token. Without it the agent answers from sample data, and each answer
says that the flights are not real.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as Date
from datetime import datetime, timedelta
from datetime import time as Time
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, Field, ValidationError

from onevalet import (
    AgentResult,
    InputField,
    StandardAgent,
    TextWithData,
    ToolExecutionContext,
    ToolFailed,
    ToolGroup,
    ToolRetry,
    amount_in_words,
    day_in_words,
    gettext,
    gettext_noop,
    ngettext,
    time_in_words,
    valet,
)

_GROUP = ToolGroup("travel", gettext_noop("flight, flights, fly"))
SERVER = "https://api.duffel.com"
_MAX_OFFERS = 3
_SUPPLIER_MS = 12_000
"""How long Duffel waits for the airlines, in milliseconds: less than our own timeout."""
_CODE = re.compile(r"[A-Z]{3}")
_NAMES = (
    gettext_noop("origin"),
    gettext_noop("destination"),
    gettext_noop("date"),
    gettext_noop("return date"),
    gettext_noop("passengers"),
    gettext_noop("flight search"),
)
"""Names of the fields and the agent on cards and in questions."""
_HEAD = gettext_noop("The cheapest flights, {search}:")
_TEST_MODE = gettext_noop("Sample data, not real flights (the key is for the provider's test mode), {search}:")
_NO_KEY = gettext_noop("Sample data, not real flights (no flight search is set up), {search}:")


class _Place(BaseModel):
    iata_code: str | None = None


class _Airline(BaseModel):
    name: str


class _Segment(BaseModel):
    origin: _Place
    destination: _Place
    departing_at: datetime
    arriving_at: datetime
    marketing_carrier_flight_number: str | None = None
    marketing_carrier: _Place


class _Slice(BaseModel):
    segments: list[_Segment] = Field(min_length=1)


class _Offer(BaseModel):
    owner: _Airline
    total_amount: Decimal
    total_currency: str
    slices: list[_Slice]
    live_mode: bool = True


class _Places(BaseModel):
    data: list[_Place]


class _Request(BaseModel):
    id: str


class _Requests(BaseModel):
    data: _Request


class _Offers(BaseModel):
    data: list[_Offer]


@valet(name="FlightSearchAgent", effect="read", timeout=60, group=_GROUP)
class FlightSearchAgent(StandardAgent):
    """Search flights and their prices. It books nothing.

    A watch finds its data at $.cheapest.price and $.cheapest.currency, and all offers at $.offers.
    """

    origin = InputField(
        gettext_noop("Where do you fly from?"), description="City or airport to leave from, best as its IATA code"
    )
    destination = InputField(
        gettext_noop("Where do you fly to?"), description="City or airport to go to, best as its IATA code"
    )
    date = InputField(gettext_noop("On which day do you leave?"), description="Day of departure", type=Date)
    return_date = InputField(
        gettext_noop("On which day do you come back?"),
        description="Day of the flight back",
        type=Date | None,
        required=False,
    )
    passengers = InputField(
        gettext_noop("How many of you fly?"),
        description="How many adults fly",
        type=int,
        required=False,
        default=1,
        validator=lambda count: 1 <= count <= 9,
        validator_description=gettext_noop("from 1 to 9"),
    )

    async def on_running(self, msg: str) -> AgentResult:
        # Twelve hours behind UTC, the last place where a day ends: an earlier date is over everywhere.
        today = (self.context.clock.now() - timedelta(hours=12)).date()
        if self.date < today or (self.return_date and self.return_date < self.date):
            raise ToolRetry(gettext("Both days must be in the future, the return flight last."))
        key = self.context.settings.get("flights_key")
        offers = await self._offers(key) if key else self._sample()
        return self.make_result(raw_message=offers)

    async def _offers(self, key: str) -> TextWithData:
        duffel = _Duffel(self.context, key)
        origin, destination = await duffel.code(self.origin), await duffel.code(self.destination)
        legs = [(origin, destination, self.date)]
        if self.return_date:
            legs.append((destination, origin, self.return_date))
        wanted = {
            "slices": [{"origin": start, "destination": end, "departure_date": str(day)} for start, end, day in legs],
            "passengers": [{"type": "adult"}] * self.passengers,
        }
        path = f"/air/offer_requests?return_offers=false&supplier_timeout={_SUPPLIER_MS}"
        request = (await duffel.get(_Requests, path, {"data": wanted})).data
        query = urlencode({"offer_request_id": request.id, "sort": "total_amount", "limit": _MAX_OFFERS})
        offers = (await duffel.get(_Offers, f"/air/offers?{query}")).data[:_MAX_OFFERS]
        if not offers:
            none = gettext(
                "There are no flights from {origin} to {destination} on {day}.",
                origin=origin,
                destination=destination,
                day=day_in_words(self.date),
            )
            return TextWithData(none, _data([]))
        head = _HEAD if all(offer.live_mode for offer in offers) else _TEST_MODE
        lines = [gettext(head, search=self._search(origin, destination)), *(_described(offer) for offer in offers)]
        found = [(offer.owner.name, float(offer.total_amount), offer.total_currency) for offer in offers]
        return TextWithData("\n".join(lines), _data(found))

    def _sample(self) -> TextWithData:
        """Make up offers, always the same for the same search."""
        origin, destination = (" ".join(place.split()).upper()[:40] for place in (self.origin, self.destination))
        lines = [gettext(_NO_KEY, search=self._search(origin, destination))]
        found: list[tuple[str, float, str]] = []
        digest = hashlib.sha256(f"{origin} {destination} {self.date} {self.return_date}".encode()).digest()
        for number, airline in enumerate(("Example Air", "Sample Airways", "Specimen Airlines")):
            leaves = datetime.combine(self.date, Time(6 + 5 * number, digest[number] % 60))
            lands = leaves + timedelta(minutes=90 + digest[number + 3])
            price = (120 + 60 * number + digest[number + 6] % 50) * self.passengers * (2 if self.return_date else 1)
            found.append((airline, float(price), "USD"))
            cost = amount_in_words(Decimal(price), "USD")
            flight = f"{airline}, {cost}: {origin} {time_in_words(leaves)} - {destination} {time_in_words(lands)}"
            lines.append(gettext("{flight}, made up", flight=flight))
        return TextWithData("\n".join(lines), _data(found))

    def _search(self, origin: str, destination: str) -> str:
        day = day_in_words(self.date)
        search = gettext("{origin} to {destination} on {day}", origin=origin, destination=destination, day=day)
        if self.return_date:
            search = gettext("{search}, back on {day}", search=search, day=day_in_words(self.return_date))
        if self.passengers > 1:
            people = ngettext("{number} person", "{number} people", self.passengers)
            search = gettext("{search}, {people}", search=search, people=people)
        return search


@dataclass(frozen=True, slots=True)
class _Duffel:
    """The provider, with the operator's key."""

    context: ToolExecutionContext
    key: str

    async def code(self, place: str) -> str:
        """Return the IATA code of a place, which flights are searched by."""
        if _CODE.fullmatch(place):
            return place
        places = await self.get(_Places, f"/places/suggestions?{urlencode({'query': place})}")
        codes = [suggestion.iata_code for suggestion in places.data if suggestion.iata_code]
        if not codes:
            raise ToolRetry(gettext("No airport is known for “{place}”; name a larger city nearby.", place=place))
        return codes[0]

    async def get[Answer: BaseModel](self, kind: type[Answer], path: str, body: Any = None) -> Answer:
        """Send a request, a POST if there is a body, and parse the response."""
        url = f"{SERVER}{path}"
        headers = {"Authorization": f"Bearer {self.key}", "Duffel-Version": "v2", "Accept": "application/json"}
        answer = await self.context.http.request("POST" if body else "GET", url, headers=headers, json=body)
        if answer.status not in (200, 201):
            raise ToolFailed(
                gettext("The flight search does not work at the moment (status {status}).", status=answer.status)
            )
        try:
            return kind.model_validate_json(answer.body)
        except ValidationError as error:
            raise ToolFailed(gettext("The flight search gave an answer that cannot be read.")) from error


def _data(found: Sequence[tuple[str, float, str]]) -> dict[str, Any]:
    """Return offers, the cheapest first, as a watch looks into them."""
    offers = [{"airline": airline, "price": price, "currency": currency} for airline, price, currency in found]
    offers.sort(key=lambda offer: float(str(offer["price"])))
    return {"cheapest": offers[0] if offers else None, "offers": offers}


def _described(offer: _Offer) -> str:
    legs = []
    for leg in offer.slices:
        first, last = leg.segments[0], leg.segments[-1]
        numbers = " ".join(
            f"{part.marketing_carrier.iata_code or ''}{part.marketing_carrier_flight_number or ''}"
            for part in leg.segments
        )
        stops = len(leg.segments) - 1
        way = ngettext("{number} stop", "{number} stops", stops) if stops else gettext("direct")
        legs.append(
            f"{first.origin.iata_code} {_at(first.departing_at)} - "
            f"{last.destination.iata_code} {_at(last.arriving_at, first.departing_at)} ({numbers}, {way})"
        )
    flights = legs[0]
    for back in legs[1:]:
        flights = gettext("{flight}; back {back}", flight=flights, back=back)
    return f"{offer.owner.name}, {amount_in_words(offer.total_amount, offer.total_currency)}: {flights}"


def _at(moment: datetime, after: datetime | None = None) -> str:
    """Return a moment by the clock of its own airport, without the day if that is the day of `after`."""
    if after is not None and after.date() == moment.date():
        return time_in_words(moment)
    return f"{day_in_words(moment.date())} {time_in_words(moment)}"
