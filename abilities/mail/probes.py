"""The checks of `doctor` on mailboxes that tasks watch."""

from abilities.mail.watches import count_watches
from core.db.database import Database
from core.messaging.channels import Check
from operations.doctor.types import Area, over_database

_PROBLEMS = {
    "login": "the server refuses the login; their people were told",
    "barred": "the server is not on the public internet",
    "unreachable": "the server cannot be reached; tried again by itself",
    "refused": "the server refuses the inbox; tried again by itself",
    "exceeded": "the server sends more than it may; left alone for longer each time, and their people were told",
    "too_many": "more mailboxes of one person than a worker watches; tried again by itself",
    "account": "what is stored cannot be opened at the moment; tried again by itself",
    "wrong": "what is stored is not complete",
}
_FIXES = {"barred": "name it in ONEVALET_FETCH_HOSTS, if it is yours", "unforeseen": "see mailbox_failed in the log"}


async def check_mailboxes(database: Database) -> list[Check]:
    """Check the mailboxes that tasks watch: how many are watched, and the problems of the others."""
    counts = await count_watches(database)
    if not counts:
        return []
    checks = [Check("mailboxes", True, f"{sum(count.watched for count in counts)} watched for new mail")]
    for count in counts:
        failing, detail = count.unwatched + count.ended, count.problem or "watched by no worker"
        if count.problem and failing:
            detail = f"{failing}: {_PROBLEMS.get(count.problem, count.problem)}"
            checks.append(Check("mailboxes that fail", not count.ended, detail, _FIXES.get(count.problem, "")))
        elif count.unwatched:
            fix = "start a worker: each watches up to 200"
            checks.append(Check("mailboxes that wait", False, f"{count.unwatched}: {detail}", fix))
    return checks


PROBES = (over_database(Area.ACCOUNTS, "mailboxes", check_mailboxes),)
