"""Numbers and addresses: read with the person's country, and accepted only if the person wrote them."""

import re
from collections.abc import Iterable, Sequence

from onevalet import ToolExecutionContext, ToolRetry, gettext

_MAIL = re.compile(r"[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_MEMBER = re.compile(r"\b[UW][0-9A-Z]{6,20}\b")
_USER = re.compile(r"(?<![\w+])[0-9]{5,15}(?!\w)")


def number_of(text: str, region: str | None) -> str | None:
    """Return a valid phone number as E.164; None for anything else, and for a number without a country."""
    import phonenumbers  # its tables are large

    try:
        parsed = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(parsed):
        return None
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)


def numbers_in(texts: Iterable[str], region: str | None) -> set[str]:
    """Return the valid phone numbers in some texts, as E.164."""
    import phonenumbers

    e164 = phonenumbers.PhoneNumberFormat.E164
    return {
        phonenumbers.format_number(match.number, e164)
        for text in texts
        for match in phonenumbers.PhoneNumberMatcher(text, region)
    }


def is_mail(text: str) -> bool:
    return _MAIL.fullmatch(text) is not None


def is_member(text: str) -> bool:
    return _MEMBER.fullmatch(text) is not None


class Written:
    """The addresses that the person wrote themselves in this conversation."""

    def __init__(self, texts: Sequence[str], region: str | None) -> None:
        self.region = region
        self._texts = texts
        self._mails = {mail.casefold().rstrip(".") for text in texts for mail in _MAIL.findall(text)}
        self._members = {member for text in texts for member in _MEMBER.findall(text)}
        self._users = {user for text in texts for user in _USER.findall(text)}

    @classmethod
    async def by(cls, context: ToolExecutionContext) -> "Written":
        """Return those of the person whose turn it is."""
        return cls(await context.person.own_words(), await context.person.region())

    def number(self, text: str) -> str:
        """Return a number that the person wrote, as E.164. Raises `ToolRetry`."""
        number = number_of(text, self.region)
        if number is None:
            raise ToolRetry(
                gettext("I cannot use {text} as a phone number: please write it with its country code.", text=text)
            )
        if number not in numbers_in(self._texts, self.region):
            raise _not_written(text)
        return number

    def mail(self, text: str) -> str:
        """Return a mail address that the person wrote. Raises `ToolRetry`."""
        if not is_mail(text):
            raise ToolRetry(gettext("“{text}” is not an email address", text=text))
        if text.casefold() not in self._mails:
            raise _not_written(text)
        return text

    def member(self, text: str) -> str:
        """Return the id of a Slack member that the person wrote. Raises `ToolRetry`."""
        if text not in self._members:
            raise _not_written(text)
        return text

    def user(self, text: str) -> str:
        """Return the number of a Telegram user that the person wrote. Raises `ToolRetry`."""
        if text not in self._users:
            raise _not_written(text)
        return text

    def of(self, channel: str, text: str) -> str:
        """Return the address that the person wrote for a channel. Raises `ToolRetry`."""
        match channel:
            case "slack":
                return self.mail(text) if "@" in text else self.member(text)
            case "telegram":
                return self.user(text)
        return self.number(text)


def _not_written(text: str) -> ToolRetry:
    return ToolRetry(
        gettext(
            "I use only numbers and addresses that you have given me here yourself, and {text} is not among them.",
            text=text,
        ),
        note="Never make one up or take it from elsewhere: ask the person to write it.",
    )
