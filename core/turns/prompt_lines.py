"""Lines of the system prompt that the demo model, which reads by program, has to find again: one format each."""

import re

NOW = "Now it is {weekday}, {date} {time} in the person's timezone, {zone}."
PENDING = "- {code}: {summary}; {action}"
"""An action that the person may decide in their own words."""
PENDING_BY_CODE = "- {code}: {summary} (only by button or code); {action}"
_FIELDS = {"code": "[0-9A-Z]{2,3}", "date": r"\d{4}-\d\d-\d\d"}


def read_lines(line_format: str, text: str) -> list[dict[str, str]]:
    """Return the fields of each line of a text that was written by a format."""
    pattern = re.sub(r"\\\{(\w+)\\\}", _group, re.escape(line_format))
    return [match.groupdict() for match in re.finditer(f"^{pattern}", text, re.MULTILINE)]


def _group(field: re.Match[str]) -> str:
    return f"(?P<{field[1]}>{_FIELDS.get(field[1], '.*?')})"
