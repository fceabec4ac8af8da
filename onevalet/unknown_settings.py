"""Variables that look like settings but are not: retired, misspelt, or of an ability that is missing."""

import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from pydantic_settings import DotEnvSettingsSource

from onevalet.settings import Settings, is_setting

RETIRED: Mapping[str, str] = MappingProxyType(
    {
        "ONEVALET_BACKUP_HOURS": "workers write a backup once a day, and `onevalet backup` at any other time",
        "ONEVALET_DATABASE_PATIENCE": "for a Postgres that is away, workers wait 15 seconds, commands 5 and web 2.5",
        "ONEVALET_EVENTS_KEPT_DAYS": "events are kept for 30 days, or for ONEVALET_KEPT_DAYS if those are fewer",
        "ONEVALET_EXTRACTION": "a model reads messages, or rules if ONEVALET_MEMORY is rules",
        "ONEVALET_FILES_LINK_DAYS": "a link to a file is valid for seven days",
        "ONEVALET_FILES_PERSON_MB": "a person may have a fiftieth of ONEVALET_FILES_ALL_MB",
        "ONEVALET_FILES_REGION": "ONEVALET_FILES_ENDPOINT names the region, or ?region= behind ONEVALET_FILES",
        "ONEVALET_FLIGHTS_URL": "flights are searched at api.duffel.com",
        "ONEVALET_JOURNALS_KEPT_DAYS": "set ONEVALET_KEPT_DAYS, for journals, runs of tasks and notifications",
        "ONEVALET_LINKS": "a link in an answer that nobody named is replaced by a note",
        "ONEVALET_MAIL_PASSWORD": "a login of the mailbox's own is written into ONEVALET_MAIL_IMAP_URL",
        "ONEVALET_MAIL_POLL": "a mailbox whose server has no IDLE is read every two minutes",
        "ONEVALET_MAIL_USER": "a login of the mailbox's own is written into ONEVALET_MAIL_IMAP_URL",
        "ONEVALET_MAIL_WATCHES": "a worker watches up to 200 mailboxes",
        "ONEVALET_MCP_DAYS": "a token of a program is valid for 90 days, or until it is revoked",
        "ONEVALET_MCP_RATE": "a program may send 60 requests a minute",
        "ONEVALET_MCP_WAIT": "a program names the seconds that it waits for an answer, 45 at most",
        "ONEVALET_MEMORY_MESSAGES": "a model reads what a person said after ten messages",
        "ONEVALET_MEMORY_PAUSE": "a model reads what a person said after five minutes of quiet",
        "ONEVALET_MODEL_TRANSPORT": "the providers that can be called directly are",
        "ONEVALET_MOST_WAITING_IN_ALL": "all people together may have a hundred times ONEVALET_MOST_WAITING waiting",
        "ONEVALET_NOTIFICATIONS_KEPT_DAYS": "set ONEVALET_KEPT_DAYS, for journals, runs of tasks and notifications",
        "ONEVALET_NOTIFY_DAILY_CAP": "a person gets 30 notifications a day, and the others in a digest",
        "ONEVALET_PROFILE": "a model infers facts about people if ONEVALET_MEMORY is on",
        "ONEVALET_PROMPTS_KEPT": "prompts are kept for 24 hours",
        "ONEVALET_RECALL": "memories are in the prompt, and the model may ask for more",
        "ONEVALET_RUNS_KEPT_DAYS": "set ONEVALET_KEPT_DAYS, for journals, runs of tasks and notifications",
        "ONEVALET_SMS_SEGMENTS_ALL_DAY": "all people together may have 25 times ONEVALET_SMS_SEGMENTS_PERSON_DAY",
        "ONEVALET_SMS_SEGMENTS_MESSAGE": "a message has at most 12 segments, and MORE sends the rest",
        "ONEVALET_SMS_SEGMENT_PRICE": "set ONEVALET_SMS_PRICE, by the beginnings of numbers or for all of them",
        "ONEVALET_TRANSCRIPTION_KEY": "a key is in ONEVALET_TRANSCRIPTION_URL, or in the provider's own variable",
        "ONEVALET_USAGE_KEPT_DAYS": "people's daily numbers are kept for two years",
    }
)
"""The replacement of each retired setting."""
_OURS = "ONEVALET_"
_OTHERS = re.compile(
    # Read by docker-compose.yml, by `onevalet mcp`, and by the tests.
    r"ONEVALET_(?:EXTRAS|MCP_TOKEN|LEFT_OUT|PATRONI|PEERS|SPECS|(?:SCENARIO|TEST)_\w+"
    # Kubernetes names these of a Service called onevalet, in each container beside it.
    r"|SERVICE_(?:HOST|PORT)\w*|PORT(?:_\d+_(?:TCP|UDP)\w*)?)"
)


def retired_settings(names: Iterable[str]) -> dict[str, str]:
    """Return a sentence for each variable that was a setting once, by name."""
    return {name: f"{name} is no longer a setting: {RETIRED[name]}." for name in sorted(names) if name in RETIRED}


def unknown_settings(names: Iterable[str]) -> dict[str, str]:
    """Return a sentence by name for each variable that looks like a setting but is not."""
    known = [name.upper() for name in Settings.model_fields]
    told: dict[str, str] = {}
    for name in sorted(names):
        if not name.startswith(_OURS) or name in RETIRED or is_setting(name) or _OTHERS.fullmatch(name):
            continue
        near = get_close_matches(name, known, n=1, cutoff=0.85)
        told[name] = f"{name} is no setting of this installation{f': is {near[0]} meant?' if near else '.'}"
    return told


def variables() -> set[str]:
    """Return the names of the variables that are set, in the environment or in `.env`, in capitals."""
    given = {**DotEnvSettingsSource(Settings, case_sensitive=True).env_vars, **os.environ}
    return {name.upper() for name, value in given.items() if value}
