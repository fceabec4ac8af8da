"""Files as MMS: where, which, how large, and how many to a message; pure.

Source: twilio.com/docs/messaging/api/message-resource ("The media size limit is 5 MB for supported file types (jpeg,
jpg, png, gif) and 500 KB for other types of accepted media"), messaging/guides/accepted-mime-types.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.errors import Rejected
from core.json_types import Json
from core.messaging.channels import Part
from core.messaging.files import OutgoingFile
from core.messaging.messages import Media
from providers.sms.wire import MAX_MEDIA, is_service

MAX_MESSAGE = 5 * 1000 * 1000
"""Bytes of all files of one message; pictures are brought into a size that the phone takes."""
MAX_OTHER = 500 * 1000
"""Bytes of a file of another type, which is passed on as it is."""
_PICTURES = frozenset({"image/jpeg", "image/png", "image/gif"})
_OTHERS = frozenset(
    {
        "application/pdf",
        "application/vcard",
        "text/vcard",
        "text/x-vcard",
        "text/csv",
        "text/rtf",
        "text/calendar",
        "audio/mpeg",
        "audio/mp4",
        "audio/ogg",
        "audio/amr",
        "audio/3gpp",
        "video/mp4",
        "video/mpeg",
        "video/quicktime",
        "video/3gpp",
    }
)


@dataclass(frozen=True, slots=True)
class Mms:
    """Where MMS is: `countries` by their two letters, and from which sender."""

    countries: Collection[str]
    sender: str

    def carries(self, file: Media, peer: str) -> bool:
        """Return whether a file can be sent to a number as MMS."""
        size = file.size or 0
        fits = 0 < size <= (MAX_MESSAGE if file.content_type in _PICTURES else MAX_OTHER)
        known = file.content_type in _PICTURES or file.content_type in _OTHERS
        return fits and known and self._reaches(peer)

    def _reaches(self, peer: str) -> bool:
        # A Messaging Service chooses a number that can, or has its MMS Converter make a link of the file.
        ours = is_service(self.sender) or country_of(self.sender) in self.countries
        return ours and country_of(peer) in self.countries


def country_of(number: str) -> str:
    """Return the country of a number by its two letters; empty where it has none."""
    import phonenumbers  # only where a file goes out: its tables are large

    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return ""
    # Of a number that nobody could have, such as +1 555, the country that the code is first of.
    own = phonenumbers.region_code_for_number(parsed)
    return own or phonenumbers.region_code_for_country_code(parsed.country_code or 0)


def mms_parts(files: Sequence[OutgoingFile]) -> list[Part]:
    """Return files as messages, each with as many as one may have; its text are their names."""
    groups: list[list[OutgoingFile]] = []
    for file in files:
        group = groups[-1] if groups else []
        if not groups or len(group) == MAX_MEDIA or sum(one.size for one in group) + file.size > MAX_MESSAGE:
            groups.append([file])
        else:
            group.append(file)
    return [_part(group) for group in groups]


def _part(files: Sequence[OutgoingFile]) -> Part:
    urls: list[Json] = [file.address for file in files]
    instead = "\n".join(file.instead for file in files)
    # Twilio fetches the files after it has taken the message: `apply_status` says these in place of what it cannot use.
    words: list[Json] = [{"id": file.id, "instead": file.instead, "gone": file.gone} for file in files]
    return Part(", ".join(file.name for file in files), {"media": urls, "instead": instead, "files": words})


def instead_of(part: Part) -> str:
    """Return what is said where Twilio refuses the files of a part; empty where it has none."""
    return str(part.data.get("instead", ""))


def media_of(part: Part) -> list[str]:
    """Return where the files of a part are fetched."""
    urls = part.data.get("media", [])
    if not isinstance(urls, list):
        raise Rejected("media is not a list")
    return [str(url) for url in urls]
