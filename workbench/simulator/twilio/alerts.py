"""The account's debugger as monitor.twilio.com/v1 lists it (docs: usage/monitor-alert): a single page, newest first."""

from collections.abc import Callable
from datetime import UTC, datetime

from aiohttp import web

from workbench.simulator.base import Wire
from workbench.simulator.journal import Json
from workbench.simulator.twilio.forms import checked
from workbench.simulator.twilio.guard import PREFIX, Guard
from workbench.simulator.twilio.state import Debug, Store

_LIST = frozenset({"LogLevel", "StartDate", "EndDate", "PageSize", "Page", "PageToken"})
_MOST = 50


class Alerts:
    """The handler."""

    def __init__(self, wire: Wire, store: Callable[[], Store]) -> None:
        self._wire = wire
        self._guard = Guard(wire)
        self._account = wire.config.twilio.account_sid
        self._store = store

    def routes(self) -> list[web.AbstractRouteDef]:
        return [web.get(f"{PREFIX}/v1/Alerts", self._guard.wrap("alerts.list", self.list_alerts))]

    async def list_alerts(self, request: web.Request) -> web.StreamResponse:
        form = checked(request.query_string, _LIST)
        since = _moment(form.one("StartDate")) if form.has("StartDate") else 0.0
        found = [entry for entry in reversed(self._store().debug) if entry.at >= since][:_MOST]
        url = f"{self._wire.url}{PREFIX}/v1/Alerts?PageSize={_MOST}&Page=0"
        meta: dict[str, Json] = {
            "first_page_url": url,
            "key": "alerts",
            "next_page_url": None,
            "page": 0,
            "page_size": _MOST,
            "previous_page_url": None,
            "url": url,
        }
        return web.json_response({"meta": meta, "alerts": [self._shown(entry) for entry in found]})

    def _shown(self, entry: Debug) -> Json:
        moment = datetime.fromtimestamp(int(entry.at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        sid = f"NO{abs(hash((entry.at, entry.code, entry.sid))):032x}"[:34]
        return {
            "account_sid": self._account,
            "alert_text": entry.detail,
            "api_version": "2010-04-01",
            "date_created": moment,
            "date_generated": moment,
            "date_updated": moment,
            "error_code": str(entry.code),
            "log_level": "error",
            "more_info": f"https://www.twilio.com/docs/errors/{entry.code}",
            "request_method": "POST",
            "request_url": entry.url,
            "resource_sid": entry.sid,
            "service_sid": None,
            "sid": sid,
            "url": f"{self._wire.url}{PREFIX}/v1/Alerts/{sid}",
        }


def _moment(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
