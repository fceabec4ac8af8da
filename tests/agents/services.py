"""Emulations of what the agents that ship talk to, as strict as their descriptions: weather, flights, a mail server."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from aiohttp import web
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from core.json_types import Json, JsonObject
from core.tools.tool import AnyTool
from onevalet import StandardAgent

KEY = "duffel_live_secret"
PLACES = {
    "berlin": ("Berlin", "Berlin", "Germany", "Europe/Berlin"),
    "nyc": ("New York", "New York", "United States", "America/New_York"),
}
_CURRENT = {"temperature_2m": 3.4, "apparent_temperature": -0.2, "weather_code": 61, "wind_speed_10m": 14.3}


@dataclass(slots=True)
class Web:
    """An emulated server: `url` is its origin, `asked` what came, `status` what it answers where it is not 200."""

    url: str = ""
    asked: list[JsonObject] = field(default_factory=list)
    status: int = 200
    live: bool = True
    body: str = ""
    """Answered instead of anything else."""


@asynccontextmanager
async def open_meteo() -> AsyncIterator[Web]:
    """Serve Open-Meteo's geocoding and forecast."""
    server = Web()

    async def search(request: web.Request) -> web.Response:
        server.asked.append(dict(request.query))
        known = PLACES.get(request.query["name"].lower())
        if known is None:
            return web.json_response({"generationtime_ms": 0.5})  # as the service has it: no results, no list
        name, region, country, zone = known
        place = {"id": 1, "name": name, "latitude": 52.5, "longitude": 13.4, "admin1": region, "country": country}
        return web.json_response({"results": [place | {"timezone": zone}]})

    async def forecast(request: web.Request) -> web.Response:
        query = dict(request.query)
        server.asked.append(dict(query))
        if server.body or server.status != 200:
            return web.Response(text=server.body or '{"error": true}', status=server.status)
        known = {"latitude", "longitude", "timezone", "current", "daily", "start_date", "end_date"}
        known |= {"temperature_unit", "wind_speed_unit"}
        if set(query) - known:
            return web.json_response({"error": True, "reason": "unknown parameter"}, status=400)
        first, last = date.fromisoformat(query["start_date"]), date.fromisoformat(query["end_date"])
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        value = {
            "weather_code": 3,
            "temperature_2m_min": 2.2,
            "temperature_2m_max": 6.6,
            "precipitation_probability_max": 80,
        }
        daily: JsonObject = {name: [value[name]] * len(days) for name in query["daily"].split(",")}
        current: JsonObject = {name: _CURRENT[name] for name in query["current"].split(",")}
        daily["time"] = [str(day) for day in days]
        return web.json_response({"latitude": 52.5, "current": current, "daily": daily})

    async with _served(server, web.get("/v1/search", search), web.get("/v1/forecast", forecast)):
        yield server


@asynccontextmanager
async def duffel() -> AsyncIterator[Web]:
    """Serve Duffel's places, offer requests and offers, version 2."""
    server = Web()

    def refused(request: web.Request) -> web.Response | None:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"errors": [{"code": "invalid_authorization_header"}]}, status=401)
        if request.headers.get("Duffel-Version") != "v2":
            return web.json_response({"errors": [{"code": "missing_version_header"}]}, status=400)
        return web.Response(text=server.body, status=server.status) if server.status != 200 else None

    async def places(request: web.Request) -> web.Response:
        codes = {"berlin": "BER", "new york": "NYC"}
        code = codes.get(request.query["query"].lower())
        places: list[Json] = [{"type": "city", "name": request.query["query"], "iata_code": code}] if code else []
        return refused(request) or web.json_response({"data": places})

    async def ask(request: web.Request) -> web.Response:
        body = (await request.json())["data"]
        server.asked.append(body)
        known = all(set(leg) == {"origin", "destination", "departure_date"} for leg in body["slices"])
        if (
            not known
            or request.query["return_offers"] != "false"
            or not 2000 <= int(request.query["supplier_timeout"]) <= 60000
        ):
            return web.json_response({"errors": [{"code": "validation_required"}]}, status=422)
        return refused(request) or web.json_response({"data": {"id": "orq_1", "live_mode": server.live}}, status=201)

    async def offers(request: web.Request) -> web.Response:
        legs = server.asked[-1]["slices"]
        assert request.query["offer_request_id"] == "orq_1"
        assert isinstance(legs, list)
        listed = [_offer(server, legs, number) for number in range(int(request.query["limit"]))]
        return refused(request) or web.json_response({"data": [] if server.body == "none" else listed, "meta": {}})

    routes = (
        web.get("/places/suggestions", places),
        web.post("/air/offer_requests", ask),
        web.get("/air/offers", offers),
    )
    async with _served(server, *routes):
        yield server


def _offer(server: Web, legs: list[Json], number: int) -> JsonObject:
    slices: list[Json] = []
    for leg in legs:
        assert isinstance(leg, dict)
        day = leg["departure_date"]
        segment: JsonObject = {
            "origin": {"iata_code": leg["origin"], "name": "There"},
            "destination": {"iata_code": leg["destination"], "name": "Here"},
            "departing_at": f"{day}T09:1{number}:00",
            "arriving_at": f"{day}T12:30:00",
            "marketing_carrier": {"iata_code": "ZZ", "name": "Duffel Airways"},
            "marketing_carrier_flight_number": f"10{number}",
        }
        slices.append({"duration": "PT3H20M", "segments": [segment]})
    return {
        "id": f"off_{number}",
        "owner": {"iata_code": "ZZ", "name": "Duffel Airways"},
        "total_amount": f"{99 + number}.50",
        "total_currency": "EUR",
        "live_mode": server.live,
        "slices": slices,
    }


@asynccontextmanager
async def _served(server: Web, *routes: web.AbstractRouteDef) -> AsyncIterator[None]:
    app = web.Application()
    app.router.add_routes(routes)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield
    await runner.cleanup()


async def no_loop(instruction: str, tools: Sequence[AnyTool | type[StandardAgent]], system_prompt: str) -> str:
    """Be the loop of an agent that uses none."""
    raise AssertionError


@dataclass(slots=True)
class Mails:
    """A mail server: `credentials` to reach it, and what it took. `fails` names what it does wrong."""

    credentials: JsonObject = field(default_factory=dict)
    taken: list[EmailMessage] = field(default_factory=list)
    envelopes: list[Envelope] = field(default_factory=list)
    fails: str = ""

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take a recipient, unless it is one who left."""
        if address.startswith("gone"):
            return "550 5.1.1 no such user: internal detail"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Take a message."""
        assert isinstance(envelope.content, bytes)
        if self.fails == "refuse":
            return "554 5.7.1 spam"
        self.envelopes.append(envelope)
        self.taken.append(message_from_bytes(envelope.content, policy=policy.default))
        if self.fails == "vanish":
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
        return "250 OK"


@asynccontextmanager
async def mail_server(tls: str, folder: Path) -> AsyncIterator[Mails]:
    """Run a mail server on `localhost` that wants a password; its authority's certificate is `folder/ca.pem`."""
    mails = Mails()
    context = await asyncio.to_thread(certified, folder) if tls != "none" else None

    def check(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: LoginPassword) -> AuthResult:
        good = (data.login, data.password) == (b"ann", b"s3cret")
        return AuthResult(success=good, handled=False, auth_data=data if good else None)

    def protocol() -> SMTP:
        starttls = context if tls == "starttls" else None
        return SMTP(
            mails, hostname="mx", authenticator=check, auth_required=tls == "starttls", tls_context=starttls,
            require_starttls=tls == "starttls", auth_require_tls=tls == "starttls",
        )  # fmt: skip

    listening = await asyncio.get_running_loop().create_server(
        protocol, "127.0.0.1", 0, ssl=context if tls == "implicit" else None
    )
    port = listening.sockets[0].getsockname()[1]
    mails.credentials = {"host": "localhost", "port": port, "user": "ann", "password": "s3cret", "tls": tls}
    mails.credentials["from"] = "Ann Müller <ann@example.org>"
    try:
        yield mails
    finally:
        listening.close()


def certified(folder: Path) -> ssl.SSLContext:
    """Make an authority, and a server's certificate for `localhost` under it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    return context
