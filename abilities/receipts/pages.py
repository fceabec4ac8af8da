"""The console's page of receipts: a person's own, month by month, and as a file that anybody can check."""

import asyncio
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial

import structlog
from aiohttp import web

from abilities.receipts.keys import fingerprint, signing_keys
from abilities.receipts.period import month, read_days
from abilities.receipts.receipts_file import Head, written
from abilities.receipts.store import PAGE, ReceiptReader
from abilities.receipts.types import Days, Position, Receipt
from abilities.receipts.wording import basis_of, ended_of, title_of
from core import replies
from core.errors import StoreUnavailable
from core.language.catalogue import speaking
from onevalet import __version__
from onevalet.ability import ConsolePages
from operations.console.live import version_of
from operations.console.pages.base import Pages, entered, signed_in
from operations.console.rendering import HEADERS, zone_of
from operations.console.sign_in import PATH
from operations.console.visits import Visit

HERE = f"{PATH}/receipts"
STALLED = 60.0
"""Seconds after which a browser that takes nothing more is left."""
_NUMBER = re.compile(r"[0-9a-f]{4}(-[0-9a-f]{4}){2}")
_log = structlog.get_logger()


class ReceiptPages(Pages):
    """Show people their own receipts. Operators do not see those of others, which have others' words."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(HERE, self._list), web.post(f"{HERE}/file", self._file)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        days, reader = self._days(request.query.get("month", ""), visit), self._reader(visit)
        counts = await reader.count(days)
        version = version_of(counts)
        if visit.live:
            return self.kit.page("receipts/list.html", visit, version=version)
        receipts = await reader.newest(days, PAGE, _read_position(request.query.get("before", "")))
        with speaking("en"):
            rows = [(receipt, title_of(receipt), basis_of(receipt), ended_of(receipt)) for receipt in receipts]
        return self.kit.page(
            "receipts/list.html",
            visit,
            here="receipts",
            rows=rows,
            counts=counts,
            month=_month_text(days.first),
            title=f"{days.first:%B %Y}",
            earlier=_month_text(days.first - timedelta(days=1)) if days.first.year > 2000 else "",
            later=_month_text(days.last + timedelta(days=1)) if days.last < self._today(visit) else "",
            following=_position_text(receipts[-1]) if len(receipts) == PAGE else "",
            key=fingerprint(signing_keys(self.kit.visits.sign_in.keys)[0].public),
            words=replies.without_notes,
            version=version,
        )

    @signed_in
    async def _file(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        days = self._days((await entered(request)).get("month", ""), visit)
        await self.kit.actions.record(visit.scope, visit.viewer.tenant_id, "save receipts", _month_text(days.first))
        head = Head(visit.viewer.tenant_id, days, self.kit.machine_now(), __version__)
        key = signing_keys(self.kit.visits.sign_in.keys)[0]
        response = web.StreamResponse(
            headers={
                **HEADERS,
                "Content-Type": "application/jsonl",
                "Content-Disposition": f'attachment; filename="receipts-{_month_text(days.first)}.jsonl"',
            }
        )
        await response.prepare(request)
        try:
            async for line in written(head, self._reader(visit).in_order(days), key):
                async with asyncio.timeout(STALLED):
                    await response.write(line)
            await response.write_eof()
        except (StoreUnavailable, OSError) as error:  # a timeout is an OSError, too
            _log.warning("receipts_cut", tenant=visit.viewer.tenant_id, cause=type(error).__name__)
            # A part of a file must not look like all of it: the connection ends without the end of the answer.
            if request.transport is not None:
                request.transport.abort()
        return response

    def _reader(self, visit: Visit) -> ReceiptReader:
        return ReceiptReader(partial(visit.scope.tenant_rows, visit.viewer.tenant_id), zone_of(visit.viewer))

    def _today(self, visit: Visit) -> date:
        return self.kit.machine_now().astimezone(zone_of(visit.viewer)).date()

    def _days(self, asked: str, visit: Visit) -> Days:
        """Return the month that is asked for, such as 2026-10; the present one for anything else."""
        today = self._today(visit)
        days = read_days(asked, today) if len(asked) == len("2026-10") else None
        whole = days is not None and days.first.day == 1 and _month_text(days.first) == asked
        return days if days is not None and whole else month(today.year, today.month) or Days(today, today)


PAGES = ConsolePages([ReceiptPages], menu=[("receipts", "Receipts")])


def _month_text(day: date) -> str:
    return f"{day:%Y-%m}"


def _position_text(receipt: Receipt) -> str:
    return f"{receipt.at.isoformat()}_{receipt.number}"


def _read_position(text: str) -> Position | None:
    at, _, number = text[:100].partition("_")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return (moment, number) if _NUMBER.fullmatch(number) and moment.tzinfo is not None else None
