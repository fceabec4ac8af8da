"""XML of WebDAV: request bodies written, and multistatus responses read without entities or document types."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError, SubElement, TreeBuilder, XMLParser, register_namespace, tostring

from core.http.failures import Failure, NoAnswer

DAV = "{DAV:}"
CALDAV = "{urn:ietf:params:xml:ns:caldav}"
CARDDAV = "{urn:ietf:params:xml:ns:carddav}"
CALENDARSERVER = "{http://calendarserver.org/ns/}"
_PREFIXES = {"d": DAV, "c": CALDAV, "card": CARDDAV, "cs": CALENDARSERVER}
_CHUNK = 16 * 1024
_MAX_DEPTH = 50
_MAX_ELEMENTS = 200_000


@dataclass(frozen=True, slots=True)
class Found:
    """A resource of a multistatus: its href as written, its own status, and the properties it has."""

    href: str
    status: int
    properties: Mapping[str, Element] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return the text of a property; empty without it."""
        element = self.properties.get(name)
        return (element.text or "").strip() if element is not None else ""

    def hrefs(self, name: str) -> list[str]:
        """Return the hrefs in a property."""
        element = self.properties.get(name)
        found = element.iter(f"{DAV}href") if element is not None else ()
        return [text for href in found if (text := (href.text or "").strip())]

    def children(self, name: str) -> set[str]:
        """Return the names of the elements in a property, such as those of `resourcetype`."""
        element = self.properties.get(name)
        return {child.tag for child in element.iter()} - {name} if element is not None else set()


def element(tag: str, /, *children: Element | str, **attributes: str) -> Element:
    """Return an element with others below it, or text."""
    made = Element(tag, {key.replace("_", "-"): value for key, value in attributes.items()})
    for child in children:
        if isinstance(child, str):
            made.text = child
        else:
            made.append(child)
    return made


def prop(names: Iterable[str]) -> Element:
    """Return the element that names the wanted properties."""
    made = Element(f"{DAV}prop")
    for name in names:
        SubElement(made, name)
    return made


def written(root: Element) -> bytes:
    """Return a request's body."""
    for prefix, namespace in _PREFIXES.items():
        register_namespace(prefix, namespace.strip("{}"))
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True))


def read_multistatus(body: bytes) -> Sequence[Found]:
    """Return the resources of a multistatus (RFC 4918 13). Raises `ToolFailed` for anything else."""
    try:
        root = _parsed(body)
    except (ParseError, ValueError) as error:
        raise NoAnswer(Failure.UNREADABLE) from error
    if root.tag != f"{DAV}multistatus":
        raise NoAnswer(Failure.UNREADABLE)
    return [_found(response) for response in root.findall(f"{DAV}response")]


def _found(response: Element) -> Found:
    properties: dict[str, Element] = {}
    for propstat in response.findall(f"{DAV}propstat"):
        if _status(propstat) == 200:
            for values in propstat.findall(f"{DAV}prop"):
                properties |= {value.tag: value for value in values}
    return Found((response.findtext(f"{DAV}href") or "").strip(), _status(response) or 200, properties)


def _status(node: Element) -> int:
    """Return the number in "HTTP/1.1 200 OK"; 0 if there is none."""
    parts = (node.findtext(f"{DAV}status") or "").split()
    return int(parts[1]) if len(parts) > 1 and parts[1].isascii() and parts[1].isdigit() and len(parts[1]) == 3 else 0


class _Builder(TreeBuilder):
    """Build a tree with bounds; refuse a document type, without which there are no entities to expand."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ValueError("a document type")

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._depth += 1
        self._count += 1
        if self._depth > _MAX_DEPTH or self._count > _MAX_ELEMENTS:
            raise ValueError("too many elements")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def _parsed(body: bytes) -> Element:
    # As text, so that no encoding named by the document is followed; in pieces, so that a document refused at its
    # beginning is not read to its end.
    text = body.decode("utf-8-sig")
    parser = XMLParser(target=_Builder())  # noqa: S314 - bounded, and without document types
    for start in range(0, len(text), _CHUNK):
        parser.feed(text[start : start + _CHUNK])
    root: Element = parser.close()
    return root
