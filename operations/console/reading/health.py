"""The installation's health, as figures and as checks with remedies; counts over all people, no text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.language.counted import counted
from core.messaging.channels import Check
from notify.delays import DELAYED
from operations.console.access import Scope
from operations.console.reading.strain import LATELY, read_strain
from operations.console.rendering import ago
from operations.worker_checks import worker_checks
from operations.worker_health import workers_seen

LATE = timedelta(seconds=30)
"""Age of a waiting message, or of an unsent answer, from which it is red."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the page."""

    name: str
    value: str
    bad: bool = False
    is_age: bool = False
    """It grows by itself."""


@dataclass(frozen=True, slots=True)
class Health:
    """The page's data."""

    figures: tuple[Figure, ...]
    checks: tuple[Check, ...]

    @property
    def lasting(self) -> Sequence[object]:
        """Return the state without the ages in it, which change by themselves."""
        figures = [figure for figure in self.figures if not figure.is_age]
        return [*figures, *((check.what, check.ok, check.fix) for check in self.checks)]


async def read_health(scope: Scope, now: datetime, ways_in: Mapping[str, str]) -> Health:
    """Return the present state, for an operator. `ways_in`: see `read_strain`."""
    database = scope.everybody()
    work = await database.one("select * from count_work()")
    oldest = await database.one("select * from console_oldest()")
    delayed = await database.rows("select * from count_delayed($1)", DELAYED)
    unsettled = await database.one("select * from console_unsettled($1)", LATELY)
    aside = await database.rows("select * from find_set_aside_work() where number > 0")
    workers = await workers_seen(database)
    late_in, late_out = (_is_late(oldest[name], now) for name in ("waiting", "to_send"))
    figures = (
        Figure("Workers", str(len(workers)), not workers),
        Figure("Waiting", str(work["waiting_messages"])),
        Figure("Oldest waiting", ago(oldest["waiting"], now) if oldest["waiting"] else "none", late_in, is_age=True),
        Figure("Running", str(work["running_turns"])),
        Figure("To send", str(work["open_outbound"])),
        Figure("Oldest to send", ago(oldest["to_send"], now) if oldest["to_send"] else "none", late_out, is_age=True),
        Figure("May have arrived", str(unsettled["ambiguous"]), bool(unsettled["ambiguous"])),
        Figure("Failed", str(unsettled["failed"])),
        Figure("Not delivered", str(unsettled["undelivered"])),
        Figure("Set aside", str(unsettled["set_aside"]), bool(unsettled["set_aside"])),
    )
    checks = [
        Check(
            "workers",
            bool(workers),
            f"{len(workers)} seen in the last minute",
            "" if workers else "start one: bin/onevalet worker",
        ),
        Check(
            "queue",
            not late_in,
            f"the oldest message has waited for {ago(oldest['waiting'], now)}"
            if oldest["waiting"]
            else "nothing waits",
            "see whether workers are at work; more of them may be started" if late_in else "",
        ),
        _sending_check(oldest["to_send"], now, late=late_out),
        *_unsettled_checks(unsettled["ambiguous"], unsettled["set_aside"], unsettled["last_set_aside"]),
        *await read_strain(scope, ways_in),
        *(_delayed_check(row["channel"], row["conversations"], row["reasons"]) for row in delayed),
        *(check for worker in workers for check in worker_checks(worker)),
    ]
    if aside:
        detail = ", ".join(counted(row["number"], row["kind"]) for row in aside)
        retries = ", ".join(dict.fromkeys(row["retry"] for row in aside))
        checks.append(Check("set aside", False, detail, f"see the log for each, then: {retries}"))
    return Health(figures, tuple(sorted(checks, key=lambda check: check.ok)))


def _is_late(since: datetime | None, now: datetime) -> bool:
    return since is not None and now - since > LATE


def _sending_check(since: datetime | None, now: datetime, *, late: bool) -> Check:
    detail = f"the oldest answer has waited to be sent for {ago(since, now)}" if since else "nothing waits to be sent"
    fix = "see whether workers are at work, and whether a provider is away or limits us" if late else ""
    return Check("sending", not late, detail, fix)


def _unsettled_checks(ambiguous: int, set_aside: int, last: str | None) -> Sequence[Check]:
    """Return a check for each kind of work that ended badly, with the page on which to settle it."""
    checks = []
    if ambiguous:
        detail = f"{ambiguous} sent, of which nobody knows whether they arrived"
        checks.append(Check("may have arrived", False, detail, "see Deliveries, to send them again or leave them"))
    if set_aside:
        detail = f"{set_aside} since this time yesterday, as each crashed or failed again and again"
        checks.append(
            Check("turns set aside", False, detail, f"its people were told; the last: bin/onevalet trace {last}")
        )
    return checks


def _delayed_check(channel: str, conversations: int, reasons: str | None) -> Check:
    detail = f"answers in {counted(conversations, 'conversation')} wait ({reasons or 'no reason given'})"
    return Check(
        f"{channel}: delayed", False, detail, "see whether the provider is away or limits us; it is tried again"
    )
