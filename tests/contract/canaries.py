"""What must never stand in a log: each secret, number and text of the contract's world is marked."""

import io
import json
import logging
from dataclasses import dataclass, field

import structlog

from workbench.simulator.config import Person, SlackConfig, TelegramConfig, TwilioConfig

MARK = "zqcanary"
"""Stands in every text that anybody says."""

PEOPLE = (
    Person("ada", f"Ada {MARK}", "+14155557701", "U0ADA00001", 700100001, "ada_lovelace"),
    Person("grace", f"Grace {MARK}", "+14155557702", "U0GRACE002", 700100002, "grace_hopper"),
    # Twilio's own test number that can get no texts (docs: iam/test-credentials).
    Person("mortal", f"Mortal {MARK}", "+15005550009", "U0MORTAL03", 700100003, "mortal"),
    Person("lena", f"Lena {MARK}", "+14155557704", "U0LENA0004", 700100004, "lena_meyer", language="de"),
    Person("mei", f"Mei {MARK}", "+14155557705", "U0MEI00005", 700100005, "mei_lin", language="zh-hans"),
)
SERVICE = "MG" + "e" * 32
TWILIO = TwilioConfig(
    auth_token=f"{MARK}0twilio0auth0token00000", number="+14155557700", services=((SERVICE, ("+14155557710",)),)
)
SLACK = SlackConfig(
    bot_token=f"xoxb-{MARK}-bot-token", app_token=f"xapp-1-{MARK}-app-token", signing_secret=f"{MARK}signing0secret00"
)
TELEGRAM = TelegramConfig(bot_token=f"7000000001:AA{MARK}-telegram-token-0123456789")
WEBHOOK_SECRET = f"{MARK}-webhook-secret"
OTHER_SECRET = f"{MARK}-another-secret"

CANARIES = (MARK, TWILIO.number, *(person.phone for person in PEOPLE))
"""What is looked for; numbers also without their plus."""


def marked(text: str) -> str:
    """Mark a text."""
    return f"{text} {MARK}"


@dataclass(slots=True)
class LogWatch:
    """Everything logged, as the process would write it, but without blotting out and without quieting libraries."""

    stream: io.StringIO = field(default_factory=io.StringIO)
    _structlog: dict[str, object] = field(default_factory=dict)
    _level: int = logging.WARNING
    _handler: logging.Handler = field(default_factory=logging.NullHandler)

    def begin(self) -> None:
        """Listen to structlog and to logging."""
        self._structlog = structlog.get_config()
        structlog.configure(
            processors=[
                structlog.contextvars.merge_contextvars,
                structlog.processors.add_log_level,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(default=repr, ensure_ascii=False),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
            logger_factory=structlog.PrintLoggerFactory(self.stream),
            cache_logger_on_first_use=False,
        )
        root = logging.getLogger()
        self._level, self._handler = root.level, logging.StreamHandler(self.stream)
        self._handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
        root.addHandler(self._handler)
        root.setLevel(logging.INFO)

    def end(self) -> str:
        """Stop listening; give what was logged."""
        logging.getLogger().removeHandler(self._handler)
        logging.getLogger().setLevel(self._level)
        structlog.configure(**self._structlog)  # type: ignore[arg-type]
        return self.stream.getvalue()

    def events(self) -> list[str]:
        """Return the names of the structlog events so far."""
        lines = [line for line in self.stream.getvalue().splitlines() if line.startswith("{")]
        return [str(json.loads(line).get("event")) for line in lines]


def leaks(written: str) -> list[str]:
    """Return the lines that hold what none may hold."""
    wanted = {shape for canary in CANARIES for shape in (canary, canary.lstrip("+"), canary.replace("+", "%2B"))}
    return [line for line in written.splitlines() if any(canary in line for canary in wanted)]
