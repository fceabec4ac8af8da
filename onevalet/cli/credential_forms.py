"""The required fields of credentials for services that shipped tools read; other services are free."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.credentials.store import CredentialError
from core.json_types import JsonObject
from core.notifications.mail_addresses import read_sender


class _Imap(BaseModel):
    """The IMAP server of an account."""

    model_config = ConfigDict(extra="forbid", strict=True)

    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Field(ge=1, le=65535)] = 993
    tls: Literal["implicit", "starttls", "none"] = "implicit"


class _Email(BaseModel):
    """An account that sends mail, and with `imap` reads it, as docs/accounts.md lists its keys."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Field(ge=1, le=65535)] = 465
    tls: Literal["implicit", "starttls", "none"] = "implicit"
    user: str = ""
    password: str = ""
    sender: Annotated[str, Field(alias="from")] = ""
    imap: _Imap | None = None

    @model_validator(mode="after")
    def _has_sender(self) -> "_Email":
        if not read_sender(self.sender or self.user):
            raise ValueError("`from`, or else `user`, must be an email address")
        return self


class _Dav(BaseModel):
    """An account with calendars, contacts or both."""

    model_config = ConfigDict(extra="forbid", strict=True)

    caldav: Annotated[str, Field(pattern="^https?://")] = ""
    carddav: Annotated[str, Field(pattern="^https?://")] = ""
    user: Annotated[str, Field(min_length=1)]
    password: str = ""

    @model_validator(mode="after")
    def _has_server(self) -> "_Dav":
        if not self.caldav and not self.carddav:
            raise ValueError("there is neither `caldav` nor `carddav`")
        return self


_FORMS: Mapping[str, tuple[type[BaseModel], str]] = {
    "email": (
        _Email,
        "`host` and `from` (an address; by default `user`), and may have `port` (a number), `tls` (implicit, starttls"
        " or none), `user`, `password`, and `imap` with `host`, `port` and `tls`, by which mail is read",
    ),
    "caldav": (_Dav, "`user`, `caldav` or `carddav` (the servers' addresses), and may have `password`"),
}


def check_credentials(service: str, given: JsonObject) -> None:
    """Raise `CredentialError` with a sentence if a known service cannot use these; no value is repeated."""
    if service not in _FORMS:
        return
    form, fields = _FORMS[service]
    try:
        form.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise CredentialError(
            f"Nothing was stored: {_problem(first['type'], first['loc'], first['msg'])}; "
            f"credentials for {service} need {fields}."
        ) from None


def _problem(kind: str, place: tuple[int | str, ...], message: str) -> str:
    # A key that is no word may be anything, even a secret that was pasted into the wrong place.
    name = f"`{place[0]}`" if place and re.fullmatch(r"[A-Za-z_]{1,20}", str(place[0])) else "a field"
    match kind:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            return f"{name} is not known"
        case "value_error":
            return message.removeprefix("Value error, ")
        case _:
            return f"{name} has a wrong value"
