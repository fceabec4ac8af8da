"""The parameters of a call: https://core.telegram.org/bots/api#making-requests.

They come in the query, as a form, as JSON or as multipart; values other than strings are JSON within a string.
"""

import json
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from aiohttp import web

from workbench.simulator.journal import Json
from workbench.simulator.telegram.errors import Refusal, bad_request


@dataclass(frozen=True, slots=True)
class Upload:
    """A file sent along in multipart."""

    name: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call. Invalid numbers count as 0, as on the server."""

    values: dict[str, str] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a value as it came, or nothing."""
        return self.values.get(name, "")

    def integer(self, name: str, default: int = 0, low: int | None = None, high: int | None = None) -> int:
        """Return a number, brought between `low` and `high` (the server clamps rather than refuses)."""
        given = self.values.get(name, "")
        value = whole(given) if given else default
        value = value if low is None else max(low, value)
        return value if high is None else min(high, value)

    def flag(self, name: str) -> bool:
        """Return whether a value says yes."""
        return self.values.get(name, "").lower() in ("true", "yes", "1")

    def json(self, name: str, problem: str) -> Json:
        """Return a JSON value, None if there is none; refuses with `problem`."""
        if not self.values.get(name):
            return None
        try:
            value: Json = json.loads(self.values[name])
        except ValueError:
            raise bad_request(problem) from None
        return value

    def json_or_none(self, name: str) -> Json:
        """Return a value that is JSON, or None: the server passes over some that are not."""
        try:
            return self.json(name, "")
        except Refusal:
            return None


def whole(text: str) -> int:
    """Read a number as the server does: leading digits, else 0."""
    match = re.match(r"-?\d{1,19}", text.strip())
    return int(match[0]) if match else 0


async def read_arguments(request: web.Request) -> Arguments:
    """Read a request's parameters; those of the body win over the query's."""
    values = dict(request.query)
    files: dict[str, Upload] = {}
    try:
        if request.content_type == "multipart/form-data":
            for name, part in (await request.post()).items():
                if isinstance(part, web.FileField):
                    files[name] = Upload(part.filename, part.content_type, part.file.read())
                else:
                    values[name] = part if isinstance(part, str) else bytes(part).decode()
        elif request.content_type == "application/json":
            values |= _from_json(await request.read())
        else:
            body = (await request.read()).decode()
            values |= dict(parse_qsl(body, keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError:
        # Server source, `fix_formatted_text`.
        raise bad_request("Strings must be encoded in UTF-8") from None
    return Arguments(values, files)


def _from_json(body: bytes) -> dict[str, str]:
    if not body.strip():
        return {}
    try:
        parsed: Json = json.loads(body)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise Refusal(400, "Bad Request: can't parse JSON object")
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in parsed.items()
        if value is not None
    }
