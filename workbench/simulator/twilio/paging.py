"""Lists and their pages, as the official library walks them (docs: usage/twilios-response, paging)."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from workbench.simulator.journal import Json
from workbench.simulator.twilio.errors import Refusal
from workbench.simulator.twilio.forms import Form
from workbench.simulator.twilio.state import Message

_PAGE = 50


def page_of[Row](
    rows: Sequence[Row], form: Form, uri: str, key: str, sid_of: Callable[[Row], str], show: Callable[[Row], Json]
) -> dict[str, Json]:
    """Return the requested page with the address of the next. The token names the last row before it."""
    size, number = _whole(form, "PageSize", _PAGE), _whole(form, "Page", 0)
    if not 1 <= size <= 1000:
        raise Refusal(20007)
    start = _start(rows, form, number, sid_of)
    cut = list(rows[start : start + size])
    filters = [(name, value) for name in form.values if not name.startswith("Page") for value in form.all(name)]

    def at(page: int, token: str = "") -> str:
        more = [("PageSize", str(size)), ("Page", str(page)), *([("PageToken", token)] if token else [])]
        return f"{uri}?{urlencode([*filters, *more])}"

    last = f"PA{sid_of(cut[-1])}" if cut else ""
    return {
        key: [show(row) for row in cut],
        "end": start + max(len(cut) - 1, 0),
        "first_page_uri": at(0),
        "next_page_uri": at(number + 1, last) if start + size < len(rows) else None,
        "page": number,
        "page_size": size,
        "previous_page_uri": None if number == 0 else at(number - 1, f"PB{sid_of(cut[0])}" if cut else ""),
        "start": start,
        "uri": at(number, form.one("PageToken")),
    }


def filtered(messages: Sequence[Message], form: Form) -> list[Message]:
    """Return the messages that To, From and the DateSent range select; unsent messages have no DateSent."""
    kept = []
    spans = {name: _span(form.one(name)) for name in ("DateSent", "DateSent<", "DateSent>") if form.has(name)}
    for message in messages:
        if form.has("To") and message.to != form.one("To"):
            continue
        if form.has("From") and message.sender != form.one("From"):
            continue
        if spans and (message.sent is None or not _inside(int(message.sent), spans)):
            continue
        kept.append(message)
    return kept


def _inside(sent: int, spans: dict[str, tuple[float, float]]) -> bool:
    # docs: message-resource, "DateSent<" is on or before, "DateSent>" on or after.
    if "DateSent" in spans and not spans["DateSent"][0] <= sent < spans["DateSent"][1]:
        return False
    if "DateSent<" in spans and sent >= spans["DateSent<"][1]:
        return False
    return not ("DateSent>" in spans and sent < spans["DateSent>"][0])


def _span(written: str) -> tuple[float, float]:
    """Read a day or a second of UTC as a half-open range."""
    day = re.fullmatch(r"\d{4}-\d\d-\d\d", written) is not None
    try:
        begin = datetime.fromisoformat(written).replace(tzinfo=UTC)
    except ValueError:
        raise Refusal(20001, f"Invalid date: {written}") from None
    if not day and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|\+00:00)?", written):
        raise Refusal(20001, f"Invalid date: {written}")
    end = begin + (timedelta(days=1) if day else timedelta(seconds=1))
    return begin.timestamp(), end.timestamp()


def _start[Row](rows: Sequence[Row], form: Form, number: int, sid_of: Callable[[Row], str]) -> int:
    token = form.one("PageToken")
    if not token:
        if number:
            raise Refusal(20001, "PageToken is required for every page but the first")
        return 0
    for index, row in enumerate(rows):
        if token == f"PA{sid_of(row)}":
            return index + 1
        if token == f"PB{sid_of(row)}":
            return max(0, index - _whole(form, "PageSize", _PAGE))
    raise Refusal(20001, "Invalid PageToken")


def _whole(form: Form, name: str, default: int) -> int:
    given = form.one(name)
    if not given:
        return default
    if not given.isdecimal():
        raise Refusal(20001, f"Invalid value for {name}")
    return int(given)
