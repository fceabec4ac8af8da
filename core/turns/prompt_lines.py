"""Lines of prompts that the demo model, which reads by program, has to find again: a single format for each."""

import re

CONTEXT = "[Context from the system]"
"""The beginning of the message that gives the model the time and other state, and is not the person's."""
NOW = "Now it is {weekday}, {date} {time} in the person's timezone, {zone}."
LANGUAGE = "Their language is {language}; answer in the language they write in."
PENDING = "- {code}: {summary}; {action}"
"""An action that the person may decide in their own words."""
PENDING_BY_CODE = "- {code}: {summary} (only by button or code); {action}"
TRIGGER_MARKS = {
    "schedule": "[Scheduled Task]",
    "event": "[Event Trigger]",
    "condition": "[Condition Trigger]",
}
"""The beginning of a task's message, by the kind of its trigger; the event follows, then the instruction."""
EVENT_CAME = "{event}: "
CONDITION_MET = "Condition met: {expression}. "
_FIELDS = {"language": "[A-Za-z0-9-]+", "code": "[0-9A-Z]{2,3}", "date": r"\d{4}-\d\d-\d\d", "event": r"[\w.]+"}


def read_lines(line_format: str, text: str) -> list[dict[str, str]]:
    """Return the fields of each line of a text that was written by a format."""
    return [match.groupdict() for match in re.finditer(f"^{pattern_of(line_format)}", text, re.MULTILINE)]


def pattern_of(line_format: str) -> str:
    """Return the pattern of the lines that a format writes, with its fields as groups."""
    return re.sub(r"\\\{(\w+)\\\}", _group, re.escape(line_format))


def _group(field: re.Match[str]) -> str:
    return f"(?P<{field[1]}>{_FIELDS.get(field[1], '.*?')})"
