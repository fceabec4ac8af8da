"""Files over SMS, as MMS: where they can go, in which messages, and the text in place of those that Twilio refuses.

Source of the limits: twilio.com/docs/messaging/api/message-resource ("The media size limit is 5 MB for supported file
types (jpeg, jpg, png, gif) and 500 KB for other types of accepted media"), messaging/guides/accepted-mime-types.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from core.errors import CredentialsRejected, Rejected, Unreachable
from core.json_types import Json
from core.messaging.channels import Part, Receipt, Target
from core.messaging.files import OutgoingFile
from core.messaging.messages import Media
from providers.sms.wire import MAX_MEDIA, is_service

type SendContent = Callable[[Mapping[str, object], Target], Awaitable[Receipt]]

MAX_MESSAGE = 5 * 1000 * 1000
"""Bytes of all files in a message; pictures are scaled to a size that the phone takes."""
MAX_OTHER = 500 * 1000
"""Bytes of a file of another type, which is passed on unchanged."""
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


_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Mms:
    """The coverage of MMS: `countries` by their two letters, and the sender."""

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
    """Return the two letters of a number's country; empty if it has none."""
    import phonenumbers  # only if a file is sent: its tables are large

    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return ""
    # For an unassigned number, such as +1 555, the first country of the calling code.
    own = phonenumbers.region_code_for_number(parsed)
    return own or phonenumbers.region_code_for_country_code(parsed.country_code or 0)


def mms_parts(files: Sequence[OutgoingFile]) -> list[Part]:
    """Return files as messages, each with as many as fit; the text has their names."""
    groups: list[list[OutgoingFile]] = []
    for file in files:
        group = groups[-1] if groups else []
        if not groups or len(group) == MAX_MEDIA or sum(one.size for one in group) + file.size > MAX_MESSAGE:
            groups.append([file])
        else:
            group.append(file)
    return [_files_part(group) for group in groups]


def _files_part(files: Sequence[OutgoingFile]) -> Part:
    urls: list[Json] = [file.address for file in files]
    instead = "\n".join(file.instead for file in files)
    # Twilio fetches the files after accepting the message: `apply_status` sends these in place of files that it
    # refuses.
    words: list[Json] = [{"id": file.id, "instead": file.instead, "gone": file.gone} for file in files]
    return Part(", ".join(file.name for file in files), {"media": urls, "instead": instead, "files": words})


async def send_files(part: Part, to: Target, send: SendContent) -> Receipt:
    """Send a part with files by `send`; if Twilio refuses the files, send the text that stands in their place."""
    content: dict[str, object] = {"media_url": media_of(part)}
    if part.text:
        content["body"] = part.text
    instead = instead_of(part)
    try:
        return await send(content, to)
    except Rejected as error:
        if not instead or isinstance(error, Unreachable | CredentialsRejected):
            raise
        _log.warning("file_sent_as_text", channel=to.address.channel, ref=to.ref, code=error.code)
    return replace(await send({"body": instead}, to), degraded=True)


def instead_of(part: Part) -> str:
    """Return the text to send if Twilio refuses the files of a part; empty if it has no files."""
    return str(part.data.get("instead", ""))


def media_of(part: Part) -> list[str]:
    """Return the URLs of a part's files."""
    urls = part.data.get("media", [])
    if not isinstance(urls, list):
        raise Rejected("media is not a list")
    return [str(url) for url in urls]
