"""Fields of JSON objects within parameters, refused in the words of the server's own JSON reader."""

from workbench.simulator.journal import Json
from workbench.simulator.telegram.errors import bad_request


def string_field(given: dict[str, Json], name: str, context: str = "", *, required: bool = False) -> str:
    """Return a string (a number counts as a string), or nothing; `context` begins the refusal."""
    value = given.get(name)
    if name not in given:
        if required:
            raise bad_request(f'{context}Can\'t find field "{name}"')
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise bad_request(f'{context}Field "{name}" must be of type String')
    return str(value)


def integer_field(given: dict[str, Json], name: str, context: str = "", *, required: bool = False) -> int:
    """Return a whole number (digits in a string count as a number), or 0; `context` begins the refusal."""
    value = given.get(name)
    if name not in given:
        if required:
            raise bad_request(f'{context}Can\'t find field "{name}"')
        return 0
    if isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise bad_request(f'{context}Field "{name}" must be of type Number')
    return value
