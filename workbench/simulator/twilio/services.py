"""Messaging Services: the part of messaging.twilio.com/v1 that sets webhooks, lists senders and tells registrations.

docs: messaging/api/service-resource, phonenumber-resource, usapptoperson-resource and tollfree-verification-resource.
The official library reaches it here once its `messaging.base_url` is the same as its `api.base_url`.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from aiohttp import web

from workbench.simulator.base import Wire
from workbench.simulator.journal import Json
from workbench.simulator.twilio.forms import Form, check_hooks, checked, read_form
from workbench.simulator.twilio.guard import PREFIX, Guard, not_found
from workbench.simulator.twilio.paging import page_of
from workbench.simulator.twilio.state import PhoneNumber, Service, Store

# The names are those of the official library's update call; a test compares them.
UPDATE_SERVICE = frozenset(
    {
        "FriendlyName",
        "InboundRequestUrl",
        "InboundMethod",
        "FallbackUrl",
        "FallbackMethod",
        "StatusCallback",
        "StickySender",
        "MmsConverter",
        "SmartEncoding",
        "ScanMessageContent",
        "FallbackToLongCode",
        "AreaCodeGeomatch",
        "ValidityPeriod",
        "SynchronousValidation",
        "Usecase",
        "UseInboundWebhookOnNumber",
    }
)
_LIST = frozenset({"PageSize", "Page", "PageToken"})
_VERIFICATIONS = _LIST | {"TollfreePhoneNumberSid", "Status"}


class Services:
    """The handlers."""

    def __init__(self, wire: Wire, store: Callable[[], Store]) -> None:
        self._wire = wire
        self._guard = Guard(wire)
        self._config = wire.config.twilio
        self._account = self._config.account_sid
        self._store = store

    def routes(self) -> list[web.AbstractRouteDef]:
        base, wrap = f"{PREFIX}/v1/Services", self._guard.wrap
        return [
            web.get(base, wrap("services.list", self.all)),
            web.get(f"{base}/{{sid}}", wrap("services.fetch", self.fetch)),
            web.post(f"{base}/{{sid}}", wrap("services.update", self.update)),
            web.get(f"{base}/{{sid}}/PhoneNumbers", wrap("services.numbers", self.numbers)),
            web.get(f"{base}/{{sid}}/Compliance/Usa2p", wrap("services.campaigns", self.campaigns)),
            web.get(f"{PREFIX}/v1/Tollfree/Verifications", wrap("tollfree.verifications", self.verifications)),
        ]

    async def all(self, request: web.Request) -> web.StreamResponse:
        form = checked(request.query_string, _LIST)
        rows = list(self._store().services.values())
        return self._page(rows, form, "/v1/Services", "services", self._shown)

    async def fetch(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self._shown(self._service(request)))

    async def update(self, request: web.Request) -> web.StreamResponse:
        service = self._service(request)
        form = await read_form(request, UPDATE_SERVICE)
        check_hooks(form, self._wire.public_url)
        service.settings.update({name: form.one(name) for name in form.values})
        service.updated = self._wire.now()
        return web.json_response(self._shown(service))

    async def numbers(self, request: web.Request) -> web.StreamResponse:
        service, store = self._service(request), self._store()
        form = checked(request.query_string, _LIST)
        rows = [store.numbers[number] for number in service.numbers]
        uri = f"/v1/Services/{service.sid}/PhoneNumbers"
        return self._page(rows, form, uri, "phone_numbers", partial(self._number, service))

    async def campaigns(self, request: web.Request) -> web.StreamResponse:
        """List a service's A2P 10DLC campaign, if it has any."""
        service = self._service(request)
        form = checked(request.query_string, _LIST)
        rows = [service] if self._config.campaign else []
        return self._page(rows, form, f"/v1/Services/{service.sid}/Compliance/Usa2p", "compliance", self._campaign)

    async def verifications(self, request: web.Request) -> web.StreamResponse:
        """List the verifications of toll-free numbers, for a single number or status if the query says so."""
        form = checked(request.query_string, _VERIFICATIONS)
        rows = [
            number
            for number in self._store().numbers.values()
            if self._config.verification
            and form.one("TollfreePhoneNumberSid") in ("", number.sid)
            and form.one("Status") in ("", self._config.verification)
        ]
        return self._page(rows, form, "/v1/Tollfree/Verifications", "verifications", self._verification)

    def _page[Row: (Service, PhoneNumber)](
        self, rows: Sequence[Row], form: Form, uri: str, key: str, show: Callable[[Row], Json]
    ) -> web.StreamResponse:
        """Return a page as the v1 APIs do, with a meta object."""
        page = page_of(rows, form, uri, key, lambda row: row.sid, show)

        def absolute(name: str) -> Json:
            return f"{self._wire.url}{PREFIX}{page[name]}" if page[name] else None

        meta: dict[str, Json] = {
            "first_page_url": absolute("first_page_uri"),
            "key": key,
            "next_page_url": absolute("next_page_uri"),
            "page": page["page"],
            "page_size": page["page_size"],
            "previous_page_url": absolute("previous_page_uri"),
            "url": absolute("uri"),
        }
        return web.json_response({"meta": meta, key: page[key]})

    def _service(self, request: web.Request) -> Service:
        service = self._store().services.get(request.match_info["sid"])
        if service is None:
            raise not_found(request)
        return service

    def _shown(self, service: Service) -> Json:
        url = f"{self._wire.url}{PREFIX}/v1/Services/{service.sid}"
        settings = service.settings

        def on(name: str, usual: str) -> bool:
            return settings.get(name, usual).lower() == "true"

        return {
            "account_sid": self._account,
            "area_code_geomatch": on("AreaCodeGeomatch", "true"),
            "date_created": _iso(service.created),
            "date_updated": _iso(service.updated),
            "fallback_method": settings.get("FallbackMethod", "POST"),
            "fallback_to_long_code": on("FallbackToLongCode", "false"),
            "fallback_url": settings.get("FallbackUrl") or None,
            "friendly_name": settings.get("FriendlyName", "Simulator"),
            "inbound_method": settings.get("InboundMethod", "POST"),
            "inbound_request_url": settings.get("InboundRequestUrl") or None,
            "links": {"phone_numbers": f"{url}/PhoneNumbers", "us_app_to_person": f"{url}/Compliance/Usa2p"},
            "mms_converter": on("MmsConverter", "true"),
            "scan_message_content": settings.get("ScanMessageContent", "inherit"),
            "sid": service.sid,
            "smart_encoding": on("SmartEncoding", "true"),
            "status_callback": settings.get("StatusCallback") or None,
            "sticky_sender": on("StickySender", "true"),
            "synchronous_validation": on("SynchronousValidation", "false"),
            "url": url,
            "us_app_to_person_registered": self._config.campaign == "VERIFIED",
            "use_inbound_webhook_on_number": on("UseInboundWebhookOnNumber", "false"),
            "usecase": settings.get("Usecase", "undeclared"),
            "validity_period": int(settings.get("ValidityPeriod", "36000")),
        }

    def _number(self, service: Service, number: PhoneNumber) -> Json:
        return {
            "account_sid": self._account,
            "capabilities": ["SMS", "MMS", "Voice"],
            "country_code": "US",
            "date_created": _iso(number.created),
            "date_updated": _iso(number.updated),
            "phone_number": number.number,
            "service_sid": service.sid,
            "sid": number.sid,
            "url": f"{self._wire.url}{PREFIX}/v1/Services/{service.sid}/PhoneNumbers/{number.sid}",
        }

    def _campaign(self, service: Service) -> Json:
        return {
            "account_sid": self._account,
            "campaign_status": self._config.campaign,
            "date_created": _iso(service.created),
            "date_updated": _iso(service.updated),
            "messaging_service_sid": service.sid,
            "sid": "QE" + service.sid[2:],
            "us_app_to_person_usecase": "MIXED",
        }

    def _verification(self, number: PhoneNumber) -> Json:
        return {
            "account_sid": self._account,
            "date_created": _iso(number.created),
            "date_updated": _iso(number.updated),
            "sid": "HH" + number.sid[2:],
            "status": self._config.verification,
            "tollfree_phone_number_sid": number.sid,
        }


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
